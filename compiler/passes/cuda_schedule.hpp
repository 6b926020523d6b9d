// cuda_schedule: the kernels of a step as CUDA runs them: blocks, marching, queues, and guards.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <map>
#include <string>

#include "compiler/ir/cuda.hpp"

namespace ondula::passes {

/// How a kernel is cut into blocks.
struct CudaShape {
  bool march = false;
  std::array<int, 2> block{1, 1};
  int min_blocks = 1;
  int rows_per_strip = 1;  ///< as in ir::CudaKernel; 1 below 3-D
  friend bool operator==(const CudaShape&, const CudaShape&) = default;
};

/// Shapes by the kernels' names.
using CudaShapes = std::map<std::string, CudaShape>;

/// Kernels for `target`, from a set compiled for Target::cuda. A sweep with live
/// pieces becomes one kernel: all its updates, then each axis's layers folded in under one condition; a sweep
/// of memory variables alone becomes one small kernel per axis. Sums of a cell keep the order of the host's
/// pieces, so the bits are the same. Throws UserError for an architecture before sm_50, InternalError where a
/// sweep is not fit for threads that run in any order (PipelineOptions::target). Kernels have the shapes of
/// the table, but those named in `shapes`, which change no bit either; InternalError for one that
/// cuda_shape_problem() refuses.
ir::CudaProgram cuda_schedule(const ir::KernelSet& set, const ir::CudaTarget& target,
                              const CudaShapes& shapes = {});

/// What decides a kernel's shape, besides the target.
struct CudaWork {
  int dims = 3;
  int order = 8;
  bool system = false;  ///< writes several fields, as velocity-stress systems do
  bool nested = false;  ///< derivatives of derivatives, as div(grad(u)/rho)
  bool sums = false;    ///< accumulates sums over time as well
};

/// The table, by dimension, kind of equation, order, type and architecture: marching in 3-D from sm_90 on,
/// plain blocks of one plane before. Least blocks per multiprocessor are as many as leave float32 kernels the
/// registers they need, so that none spills (docs/cuda.md lists what was measured); float64 has half of them.
CudaShape cuda_shape(const ir::CudaTarget& target, const CudaWork& work);

/// The shape that a kernel has.
CudaShape shape_of(const ir::CudaKernel& kernel);

}  // namespace ondula::passes
