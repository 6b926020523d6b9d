// Bounds and launches.
// SPDX-License-Identifier: MIT
#include "compiler/emit/cuda_launch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "compiler/error.hpp"

namespace ondula::emit {
namespace {

using Kind = ir::CudaArgument::Kind;

constexpr std::int64_t most_x = std::numeric_limits<std::int32_t>::max();  // blocks along x
constexpr std::int64_t most_yz = 65535;
constexpr int most_strip_bits = 15;
constexpr std::int64_t strip_rows = 8;  // of a y-strip, at the least

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

class Bounds {
 public:
  Bounds(const ir::CudaProgram& program, const ir::CudaKernel& kernel, const ir::Domain& domain)
      : program_(program.set.program), kernel_(kernel), domain_(domain) {}

  ir::Range live(int item) const {
    const ir::CudaRange& range = kernel_.ranges.at(static_cast<std::size_t>(item));
    return domain_.live(program_.field(range.field), range.axis);
  }

  ir::Range box(int axis) const {
    ir::Range result{std::numeric_limits<std::int64_t>::max(), 0};
    for (std::size_t r = 0; r < kernel_.ranges.size(); ++r) {
      if (kernel_.ranges[r].axis != axis) continue;
      const ir::Range own = live(static_cast<int>(r));
      result = {std::min(result.lo, own.lo), std::max(result.hi, own.hi)};
    }
    return result;
  }

  ir::Range region(int item, int side) const {
    const ir::CudaRegion& region = kernel_.regions.at(static_cast<std::size_t>(item));
    if (!region.beyond.empty()) return domain_.strip(program_.field(region.beyond), region.axis, side);
    return region.kind == ir::RegionKind::apron
               ? domain_.beside(region.axis, side, region.half, program_.apron_cells())
               : domain_.strip(region.axis, side, region.half);
  }

  /// One past the last cell of the minus side's regions, or the first of the plus side's; never crossing.
  std::int64_t close(int axis, int side) const {
    const ir::Range all = box(axis);
    std::int64_t low = all.lo;
    std::int64_t high = all.hi;
    for (std::size_t r = 0; r < kernel_.regions.size(); ++r) {
      if (kernel_.regions[r].axis != axis) continue;
      const ir::Range minus = region(static_cast<int>(r), 0);
      const ir::Range plus = region(static_cast<int>(r), 1);
      if (minus.size() > 0) low = std::max(low, minus.hi);
      if (plus.size() > 0) high = std::min(high, plus.lo);
    }
    return side == 0 ? low : std::max(low, high);
  }

  /// How many cells of an axis threads run over, those that are idle included.
  std::int64_t count(int axis) const {
    const ir::Range all = box(axis);
    const std::int64_t skipped = kernel_.strip_axis == axis ? close(axis, 1) - close(axis, 0) : 0;
    const std::int64_t cells = std::max<std::int64_t>(0, all.size() - skipped);
    const bool whole_lines = kernel_.aligned && axis == domain_.dims - 1 && cells > 0;
    return cells + (whole_lines ? all.lo & (ir::CudaKernel::line - 1) : 0);
  }

 private:
  const ir::Program& program_;
  const ir::CudaKernel& kernel_;
  const ir::Domain& domain_;
};

/// Planes that one block marches through: enough blocks to fill the device a few times, else as far as can
/// be, since each start reads its queue anew.
std::int64_t marched(std::int64_t count, std::int64_t tiles, std::int64_t resident) {
  constexpr std::int64_t waves = 4;
  const std::int64_t cuts = std::clamp<std::int64_t>(ceil_div(waves * resident, tiles), 1, most_yz);
  constexpr std::int64_t shortest = 16;
  return std::max({ceil_div(count, cuts), std::min(shortest, count), ceil_div(count, most_yz)});
}

}  // namespace

std::int64_t CudaLaunch::most_shots() const { return (most_yz - grid[2]) / shot_blocks() + 1; }

CudaLaunch cuda_launch(const ir::CudaProgram& program, const ir::CudaKernel& kernel, const ir::Domain& domain,
                       int multiprocessors, std::int64_t shots) {
  const Bounds bounds(program, kernel, domain);
  const int inner = domain.dims - 1;
  CudaLaunch launch;
  launch.block = {static_cast<std::uint32_t>(kernel.block[0]), static_cast<std::uint32_t>(kernel.block[1]),
                  1};
  std::array<std::int64_t, ir::max_axes> counts{1, 1, 1};
  for (int axis = 0; axis <= inner; ++axis) {
    counts[static_cast<std::size_t>(axis)] = bounds.count(axis);
    if (counts[static_cast<std::size_t>(axis)] == 0) return launch;
  }
  const std::int64_t strip_tiles = inner == 2 ? kernel.rows_per_strip : 1;
  const std::int64_t x = ceil_div(counts[static_cast<std::size_t>(inner)], kernel.block[0]) * strip_tiles;
  if (x > most_x) {
    throw UserError(fmt::format("{} points along the innermost axis: a CUDA launch counts at most {}",
                                counts[static_cast<std::size_t>(inner)],
                                most_x / strip_tiles * kernel.block[0]));
  }
  std::int64_t y = 1, z = 1;
  if (inner == 1) y = ceil_div(counts[0], kernel.block[1]);
  if (inner == 2) {
    const std::int64_t strips = ceil_div(counts[1], strip_tiles * kernel.block[1]);
    z = std::min(strips, most_yz);
    if (program.target.shots) {
      while (launch.strip_bits < most_strip_bits && (std::int64_t{1} << launch.strip_bits) < strips)
        ++launch.strip_bits;
      z = std::min(strips, std::int64_t{1} << launch.strip_bits);
    }
    if (kernel.march) {
      launch.planes =
          marched(counts[0], x * strips * shots, std::int64_t{multiprocessors} * kernel.min_blocks);
      y = ceil_div(counts[0], launch.planes);
    } else {
      y = counts[0];
    }
  }
  launch.grid = {static_cast<std::uint32_t>(x), static_cast<std::uint32_t>(std::min(y, most_yz)),
                 static_cast<std::uint32_t>(z)};
  return launch;
}

std::int64_t cuda_bound(const ir::CudaProgram& program, const ir::CudaKernel& kernel,
                        const ir::CudaArgument& argument, const ir::Domain& domain) {
  const Bounds bounds(program, kernel, domain);
  const auto end = [&](const ir::Range& range) { return argument.end == 0 ? range.lo : range.hi; };
  switch (argument.kind) {
    case Kind::box:
      return end(bounds.box(argument.axis));
    case Kind::live:
      return end(bounds.live(argument.item));
    case Kind::region:
      return end(bounds.region(argument.item, argument.side));
    case Kind::close:
      return bounds.close(argument.axis, argument.side);
    default:
      throw InternalError("argument " + argument.name + " is no bound");
  }
}

int cuda_index_bits(const ir::Domain& domain, std::int64_t largest) {
  // A thread beyond the grid's end counts a little further than the grid: one block, one strip of blocks, or
  // one stride of a loop over the most blocks that a launch holds.
  constexpr std::int64_t beyond = (most_yz + 1) * 64 + 1024;
  std::int64_t most = largest;
  for (int axis = 0; axis < domain.dims; ++axis) most = std::max(most, domain.total(axis) + beyond);
  return most <= std::numeric_limits<std::int32_t>::max() ? 32 : 64;
}

std::int64_t cuda_most_shots(const ir::Domain& domain) {
  std::int64_t strips = 1;
  if (domain.dims == 3) {
    const std::int64_t rows = ceil_div(domain.total(1), strip_rows) + 1;  // some live beyond faces
    while (strips < rows && strips < std::int64_t{1} << most_strip_bits) strips *= 2;
  }
  return most_yz / strips;
}

}  // namespace ondula::emit
