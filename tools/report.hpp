// run.json and the answer of --json.
// SPDX-License-Identifier: MIT
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tools/outputs.hpp"
#include "tools/session.hpp"

namespace ondula::tools {

/// What run.json holds, after the run (docs/job.md, "What a run writes").
nlohmann::ordered_json run_report(const Session& session, const OutputPlan& plan,
                                  const std::vector<std::string>& warnings);

/// The grid with its layers: shape, padded_shape, points, padded_points.
nlohmann::ordered_json grid_report(const Session& session);

/// Limits of the step and the sampling of space.
nlohmann::ordered_json limits_report(const Session& session);
/// Bytes per tier, as estimated.
nlohmann::ordered_json bytes_report(const Session& session);

/// "device", "host", "disk".
const char* tier_text(Tier tier);

}  // namespace ondula::tools
