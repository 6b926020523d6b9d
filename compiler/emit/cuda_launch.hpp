// cuda_launch: what a kernel's integer arguments are on one grid, how many blocks run, how wide indices are.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>

#include "compiler/ir/cuda.hpp"
#include "compiler/ir/domain.hpp"

namespace ondula::emit {

/// Blocks and threads of one launch; `planes` is the argument of that kind. No block where a face has no
/// layer to run on: such a kernel is not launched.
struct CudaLaunch {
  std::array<std::uint32_t, 3> grid{0, 1, 1};
  std::array<std::uint32_t, 3> block{1, 1, 1};
  std::int64_t planes = 1;
  bool empty() const { return grid[0] == 0; }
};

/// The launch of `kernel` on `domain`. `multiprocessors` of the device decides how far a block marches, never
/// a result. Axes beyond the hardware's limits are folded into loops of the kernel. Throws UserError where a
/// grid is past what CUDA can count along its innermost axis.
CudaLaunch cuda_launch(const ir::CudaProgram& program, const ir::CudaKernel& kernel, const ir::Domain& domain,
                       int multiprocessors);

/// The value of an argument of kind box, live, region or close, in padded indices. Throws InternalError for
/// other kinds, whose values the array layouts, the launch and the scalars give.
std::int64_t cuda_bound(const ir::CudaProgram& program, const ir::CudaKernel& kernel,
                        const ir::CudaArgument& argument, const ir::Domain& domain);

/// 32 where neither an element offset up to `largest` in magnitude nor a step over the grid of any kernel can
/// leave 31 bits, 64 otherwise. `largest`: over all arrays, the furthest element from index 0 that is ever
/// addressed, halo and allocation included.
int cuda_index_bits(const ir::Domain& domain, std::int64_t largest);

}  // namespace ondula::emit
