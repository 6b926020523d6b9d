// The backends' names.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "runtime/types.hpp"

namespace ondula {

/// "host", "reference", "cuda", "cuda-sim": all that a job or an option may say.
const std::vector<std::string>& backend_names();
std::string backend_name(Backend backend);
/// Of one of these names; InternalError for another.
Backend backend_of(const std::string& name);
/// Whether it needs CUDA kernels: cuda and cuda-sim.
inline bool runs_cuda(Backend backend) { return backend == Backend::cuda || backend == Backend::cuda_sim; }

}  // namespace ondula
