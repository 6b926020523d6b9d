// `ondula born`: linearised records for a perturbation of the model.
// SPDX-License-Identifier: MIT
#pragma once

#include "tools/options.hpp"

namespace ondula::tools {

/// Runs the linearised job and writes its records as `run` does. Throws UserError, CompileError,
/// RuntimeError, Cancelled.
void linearise_job(const JobOptions& options);

}  // namespace ondula::tools
