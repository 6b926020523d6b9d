// `ondula estimate`: what a job would need, without running it.
// SPDX-License-Identifier: MIT
#pragma once

#include "tools/options.hpp"

namespace ondula::tools {

/// Prints limit, sampling, bytes per tier and a predicted time. Throws UserError as a run would, after the
/// figures.
void estimate_job(const JobOptions& options);

}  // namespace ondula::tools
