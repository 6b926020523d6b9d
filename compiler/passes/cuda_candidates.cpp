// Shapes that a tuner tries.
// SPDX-License-Identifier: MIT
#include "compiler/passes/cuda_candidates.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ondula::passes {
namespace {

constexpr int warp = 32;
constexpr int most_threads = 1024;  // of a block, and by the least blocks of a multiprocessor

/// Candidates of one kernel, each once, those that cannot be left out.
class Candidates {
 public:
  explicit Candidates(int dims) : dims_(dims) {}

  void add(const CudaShape& shape) {
    if (!cuda_shape_problem(shape, dims_, false).empty()) return;
    if (std::find(shapes_.begin(), shapes_.end(), shape) == shapes_.end()) shapes_.push_back(shape);
  }

  /// Another block with the registers of `shape` for each thread, and strips of as many rows.
  void block(const CudaShape& shape, int columns, int rows) {
    CudaShape other = shape;
    other.block = {columns, rows};
    const int resident = shape.block[0] * shape.block[1] * shape.min_blocks;
    other.min_blocks = std::max(1, resident / (columns * std::max(rows, 1)));
    if (dims_ == 3) other.rows_per_strip = std::max(1, cuda_strip_rows / std::max(rows, 1));
    add(other);
  }

  void around(const CudaShape& shape) {
    const auto [x, y] = shape.block;
    add(shape);
    if (dims_ > 1) {
      block(shape, x, y / 2);
      block(shape, x, 2 * y);
      block(shape, 2 * x, y / 2);
    } else {
      block(shape, x / 2, 1);
      block(shape, 2 * x, 1);
    }
    for (const int more : {1, -1}) {
      CudaShape other = shape;
      other.min_blocks += more;
      add(other);
    }
    if (dims_ == 3) {
      CudaShape other = shape;
      other.rows_per_strip /= 2;
      add(other);
    }
  }

  std::vector<CudaShape> take() { return std::move(shapes_); }

 private:
  int dims_;
  std::vector<CudaShape> shapes_;
};

}  // namespace

CudaShape cuda_shape(const ir::KernelSet& set, const ir::CudaKernel& kernel, const ir::CudaTarget& target,
                     bool march) {
  const ir::Program& program = set.program;
  const ir::Kernel& sweep = set.kernels[static_cast<std::size_t>(kernel.sweep)];
  CudaWork work{program.dims(), program.order, kernel.stores.size() > 1, false};
  for (int axis = 0; axis < work.dims; ++axis)
    work.nested |= sweep.halo[static_cast<std::size_t>(axis)] > program.radius();
  for (const ir::Piece& piece : sweep.pieces) {
    for (const ir::Store& store : piece.stores)
      work.sums |= work.system && program.field(store.field).accumulator;
  }
  // Strips hold a few columns only: nothing to march through.
  const ir::CudaTarget flat{0, target.element_bytes, target.index_bits, target.shots};
  return cuda_shape(march && kernel.strip_axis < 0 ? target : flat, work);
}

std::string cuda_shape_problem(const CudaShape& shape, int dims, bool strips) {
  const auto [x, y] = shape.block;
  if (x < warp || x > most_threads || x % warp != 0 || y < 1 || y > most_threads || x * y > most_threads ||
      (dims == 1 && y != 1))
    return fmt::format("a block of {}x{} threads", x, y);
  if (shape.min_blocks < 1 || shape.min_blocks > most_threads || shape.min_blocks * x * y > most_threads)
    return fmt::format("{} blocks of {} threads on a multiprocessor", shape.min_blocks, x * y);
  const int most_rows = dims == 3 ? std::max(1, cuda_strip_rows / y) : 1;
  if (shape.rows_per_strip < 1 || shape.rows_per_strip > most_rows)
    return fmt::format("strips of {} blocks of {} rows", shape.rows_per_strip, y);
  if (y > cuda_strip_rows) return fmt::format("a block of {} rows", y);
  if (shape.march && (dims != 3 || strips)) return "marching where there is nothing to march through";
  return "";
}

std::vector<CudaShape> cuda_candidates(const ir::CudaProgram& program, const ir::CudaKernel& kernel) {
  if (kernel.strip_axis >= 0) return {shape_of(kernel)};
  const int dims = program.set.program.dims();
  constexpr int first_to_march = 90;
  ir::CudaTarget marching = program.target;
  marching.sm = std::max(marching.sm, first_to_march);
  Candidates candidates(dims);
  candidates.add(shape_of(kernel));
  candidates.around(cuda_shape(program.set, kernel, program.target, true));
  candidates.around(cuda_shape(program.set, kernel, program.target, false));
  if (dims == 3) candidates.around(cuda_shape(program.set, kernel, marching, true));
  return candidates.take();
}

std::string shape_text(const CudaShape& shape) {
  std::string text = fmt::format("{} {}x{}, {} block{}", shape.march ? "march" : "plain", shape.block[0],
                                 shape.block[1], shape.min_blocks, shape.min_blocks == 1 ? "" : "s");
  if (shape.rows_per_strip > 1) text += fmt::format(", strips of {}", shape.rows_per_strip);
  return text;
}

}  // namespace ondula::passes
