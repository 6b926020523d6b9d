// NVRTC's options for our kernels: one canonical list, whatever way the caller said it.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "runtime/jit/cuda_architecture.hpp"

namespace ondula::jit {

/// The full list of NVRTC's arguments for `architecture`. `options` are the caller's: "--maxrregcount=N",
/// "--ptxas-options=-v" (registers and spills into the log), "-lineinfo", "-DNAME" and "-DNAME=VALUE". A
/// later one beats an earlier one, so that equal meanings give equal lists. Throws UserError for any other
/// option.
std::vector<std::string> cuda_arguments(const CudaArchitecture& architecture,
                                        const std::vector<std::string>& options);

}  // namespace ondula::jit
