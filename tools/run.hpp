// `ondula run`: models the shots of a job.
// SPDX-License-Identifier: MIT
#pragma once

#include "tools/options.hpp"

namespace ondula::tools {

/// Runs the job and writes its files. Throws UserError, CompileError, RuntimeError, Cancelled.
void run_job(const JobOptions& options);

}  // namespace ondula::tools
