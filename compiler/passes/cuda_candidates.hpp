// cuda_candidates: shapes around the table's that a tuner tries for a kernel, and which shapes can be at all.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "compiler/passes/cuda_schedule.hpp"

namespace ondula::passes {

/// Rows of one y-strip of blocks in the table; none has more, as cuda_index_bits() reckons with.
inline constexpr int cuda_strip_rows = 64;

/// The table's shape of a scheduled kernel, or of one whose stores, ranges and strip_axis are known by now.
/// `march` false: as before the architectures that march.
CudaShape cuda_shape(const ir::KernelSet& set, const ir::CudaKernel& kernel, const ir::CudaTarget& target,
                     bool march);

/// Why no kernel of this kind may have `shape`; empty where one may: whole warps along the innermost axis, at
/// most 1024 threads on a multiprocessor (what every architecture has) by the least blocks, strips of at most
/// cuda_strip_rows rows, marching in 3-D alone and not over `strips`.
std::string cuda_shape_problem(const CudaShape& shape, int dims, bool strips);

/// What a tuner tries for the program's kernel: its own shape first, then a short list around the table's,
/// plain and (in 3-D) marching: fewer and more rows, wider rows, more and fewer least blocks, shorter strips.
/// Kernels over the strips of one axis have their own alone. Each is fit for cuda_schedule(), once.
std::vector<CudaShape> cuda_candidates(const ir::CudaProgram& program, const ir::CudaKernel& kernel);

/// "march 32x16, 2 blocks, strips of 4".
std::string shape_text(const CudaShape& shape);

}  // namespace ondula::passes
