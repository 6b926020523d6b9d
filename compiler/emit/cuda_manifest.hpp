// cuda_manifest: arguments, launch shape, work and traffic of every CUDA kernel, for the runtime and for
// people. SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "compiler/ir/cuda.hpp"

namespace ondula::emit {

/// JSON: equation, target, coefficients and scalars; per kernel its arguments in order, threads along x and
/// y, least blocks per multiprocessor, and per interior point flops, loads, stores, DRAM and L2 bytes, and L1
/// wavefronts per warp (ir::CudaFigures). Holds no grid size.
std::string cuda_manifest(const ir::CudaProgram& program);

}  // namespace ondula::emit
