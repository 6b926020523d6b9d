// cuda_figures: what a CUDA kernel computes and moves per interior point.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/ir/cuda.hpp"

namespace ondula::passes {

/// Counted on the pieces that run everywhere; layers add to them on their strips only. DRAM: each array once
/// per sweep, reads and writes apart. L2: the elements that one block touches on each plane, whole sectors of
/// 32 bytes, since L1 keeps a block's plane but not its neighbours' planes; a queue touches one plane per
/// column. L1: a load whose warp fills whole lines is one wavefront per 128 bytes, one shifted along the
/// innermost axis needs one more.
ir::CudaFigures cuda_figures(const ir::KernelSet& set, const ir::CudaKernel& kernel,
                             const ir::CudaTarget& target);

}  // namespace ondula::passes
