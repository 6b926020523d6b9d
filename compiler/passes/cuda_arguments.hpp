// cuda_arguments: the signature of a CUDA kernel.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/ir/cuda.hpp"

namespace ondula::passes {

/// Arrays, then integers, then scalars, each only where the kernel uses it. Scalars beyond what a kernel's
/// parameters may hold come as one array. `shots` as in ir::CudaTarget.
std::vector<ir::CudaArgument> cuda_arguments(const ir::KernelSet& set, const ir::CudaKernel& kernel,
                                             bool shots);

/// Names of a region in the text: "strip_z", "apron_x_half".
std::string cuda_region_name(const ir::Program& program, const ir::CudaRegion& region);

/// Whether the kernel's points need a test against this range: its axis has several.
bool cuda_guarded(const ir::CudaKernel& kernel, int range);

}  // namespace ondula::passes
