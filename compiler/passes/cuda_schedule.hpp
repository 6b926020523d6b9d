// cuda_schedule: the kernels of a step as CUDA runs them: blocks, marching, queues, and guards.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/ir/cuda.hpp"

namespace ondula::passes {

/// Kernels for `target`, from a set whose sweeps keep threads apart (Concurrency::points). A sweep with live
/// pieces becomes one kernel: all its updates, then each axis's layers folded in under one condition; a sweep
/// of memory variables alone becomes one small kernel per axis. Sums of a cell keep the order of the host's
/// pieces, so the bits are the same. Throws UserError for an architecture before sm_50, InternalError where a
/// sweep is not fit for threads that run in any order.
ir::CudaProgram cuda_schedule(const ir::KernelSet& set, const ir::CudaTarget& target);

/// How a kernel is cut into blocks.
struct CudaShape {
  bool march = false;
  std::array<int, 2> block{1, 1};
  int min_blocks = 1;
};

/// The table: blocks of a kernel that writes `written` full arrays, by dimension, order, type and
/// architecture. Marching from sm_90 on, plain blocks of one plane before.
CudaShape cuda_shape(const ir::CudaTarget& target, int dims, int order, int written);

}  // namespace ondula::passes
