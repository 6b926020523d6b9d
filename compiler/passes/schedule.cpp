// Tiles for the host.
// SPDX-License-Identifier: MIT
#include "compiler/passes/schedule.hpp"

#include <algorithm>

namespace ondula::passes {
namespace {

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// [0, count) in `pieces` nearly equal parts.
std::vector<ir::Range> parts(std::int64_t count, std::int64_t pieces) {
  std::vector<ir::Range> result;
  pieces = std::clamp<std::int64_t>(pieces, 1, std::max<std::int64_t>(1, count));
  for (std::int64_t p = 0; p < pieces; ++p) result.push_back({count * p / pieces, count * (p + 1) / pieces});
  return result;
}

}  // namespace

std::vector<std::vector<std::int64_t>> host_tiles(const ir::Kernel& kernel, const ir::Domain& domain,
                                                  std::int64_t row_bytes, const HostTarget& target) {
  if (domain.dims == 1) return {{}};
  // Enough tiles that a late thread costs little, few enough that a tile's first planes are not fetched twice
  // too often.
  const std::int64_t wanted = 4 * static_cast<std::int64_t>(target.threads);
  std::vector<std::vector<std::int64_t>> tiles;
  if (domain.dims == 2) {
    // Few enough rows that those a block has just computed are in cache when its corrections come.
    constexpr std::int64_t rows_2d = 16;
    for (const ir::Range& z : parts(domain.total(0), wanted)) tiles.push_back({z.lo, z.hi, rows_2d});
    return tiles;
  }
  int streams = 0;
  for (const ir::Cost& cost : kernel.costs) streams = std::max(streams, cost.streams);
  const std::int64_t planes = 2 * kernel.halo[0] + 1 + streams;
  const std::int64_t rows = std::max<std::int64_t>(8, target.cache_bytes / (planes * row_bytes));
  const auto blocks = parts(domain.total(1), ceil_div(domain.total(1), rows));
  const std::int64_t cuts = ceil_div(wanted, static_cast<std::int64_t>(blocks.size()));
  for (const ir::Range& z : parts(domain.total(0), cuts)) {
    for (const ir::Range& y : blocks) tiles.push_back({z.lo, z.hi, y.lo, y.hi, y.size()});
  }
  return tiles;
}

}  // namespace ondula::passes
