// `ondula gradient`: the misfit of a job against observed records, and its derivatives.
// SPDX-License-Identifier: MIT
#pragma once

#include "tools/options.hpp"

namespace ondula::tools {

/// Runs the job forward and back and writes records, gradients, pictures and run.json. Throws UserError,
/// CompileError, RuntimeError, Cancelled.
void differentiate_job(const JobOptions& options);

}  // namespace ondula::tools
