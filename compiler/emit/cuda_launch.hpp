// cuda_launch: what a kernel's integer arguments are on one grid, how many blocks run, how wide indices are.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>

#include "compiler/ir/cuda.hpp"
#include "compiler/ir/domain.hpp"

namespace ondula::emit {

/// Blocks and threads of one launch, for one shot; `planes` and `strip_bits` are the arguments of those
/// kinds. No block where a face has no layer to run on: such a kernel is not launched.
struct CudaLaunch {
  std::array<std::uint32_t, 3> grid{0, 1, 1};
  std::array<std::uint32_t, 3> block{1, 1, 1};
  std::int64_t planes = 1;
  int strip_bits = 0;
  bool empty() const { return grid[0] == 0; }
  /// What grid[2] grows by with each further shot, where the text takes shots.
  std::uint32_t shot_blocks() const { return std::uint32_t{1} << strip_bits; }
  /// Shots that one launch can count.
  std::int64_t most_shots() const;
};

/// The launch of `kernel` on `domain`. `multiprocessors` of the device, and how many shots a launch takes,
/// decide how far a block marches, never a result. Axes beyond the hardware's limits are folded into loops of
/// the kernel. Throws UserError where a grid is past what CUDA can count along its innermost axis.
CudaLaunch cuda_launch(const ir::CudaProgram& program, const ir::CudaKernel& kernel, const ir::Domain& domain,
                       int multiprocessors, std::int64_t shots = 1);

/// The value of an argument of kind box, live, region or close, in padded indices. Throws InternalError for
/// other kinds, whose values the array layouts, the launch and the scalars give.
std::int64_t cuda_bound(const ir::CudaProgram& program, const ir::CudaKernel& kernel,
                        const ir::CudaArgument& argument, const ir::Domain& domain);

/// 32 where neither an element offset up to `largest` in magnitude nor a step over the grid of any kernel can
/// leave 31 bits, 64 otherwise. `largest`: over all arrays, the furthest element from index 0 that is ever
/// addressed, halo and allocation included.
int cuda_index_bits(const ir::Domain& domain, std::int64_t largest);

/// How many shots one launch over `domain` can count.
std::int64_t cuda_most_shots(const ir::Domain& domain);

}  // namespace ondula::emit
