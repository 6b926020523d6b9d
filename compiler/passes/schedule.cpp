// Tiles for the host.
// SPDX-License-Identifier: MIT
#include "compiler/passes/schedule.hpp"

#include <algorithm>
#include <set>

namespace ondula::passes {
namespace {

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// Where tiles may not be cut along an axis: inside what a piece that runs ahead writes, and where that is
/// read.
std::vector<ir::Range> whole(const ir::Kernel& kernel, const ir::Domain& domain, int axis) {
  std::vector<ir::Range> result;
  for (const ir::Piece& piece : kernel.pieces) {
    if (piece.lead_axis != axis) continue;
    for (int side = 0; side < 2; ++side) {
      const ir::Range nodes = domain.strip(axis, side, false);
      const ir::Range halves = domain.strip(axis, side, true);
      if (nodes.size() == 0 && halves.size() == 0) continue;
      const std::int64_t inward[] = {side == 0 ? 0 : piece.lead, side == 0 ? piece.lead : 0};
      result.push_back(
          {std::min(nodes.lo, halves.lo) - inward[0], std::max(nodes.hi, halves.hi) + inward[1]});
    }
  }
  return result;
}

/// [0, count) in at most `pieces` nearly equal parts, cut nowhere inside a range of `whole`.
std::vector<ir::Range> parts(std::int64_t count, std::int64_t pieces, const std::vector<ir::Range>& whole) {
  pieces = std::clamp<std::int64_t>(pieces, 1, std::max<std::int64_t>(1, count));
  std::set<std::int64_t> ends;
  for (std::int64_t p = 1; p < pieces; ++p) {
    std::int64_t cut = count * p / pieces;
    for (const ir::Range& range : whole) {
      if (cut > range.lo && cut < range.hi) cut = cut - range.lo < range.hi - cut ? range.lo : range.hi;
    }
    const bool inside = std::any_of(whole.begin(), whole.end(),
                                    [&](const ir::Range& range) { return cut > range.lo && cut < range.hi; });
    if (!inside && cut > 0 && cut < count) ends.insert(cut);
  }
  ends.insert(count);
  std::vector<ir::Range> result;
  std::int64_t begin = 0;
  for (const std::int64_t end : ends) {
    result.push_back({begin, end});
    begin = end;
  }
  return result;
}

/// The padded grid in tiles.
std::vector<std::vector<std::int64_t>> inner_tiles(const ir::Kernel& kernel, const ir::Domain& domain,
                                                   std::int64_t row_bytes, const HostTarget& target) {
  // Enough tiles that a late thread costs little, few enough that a tile's first planes are not fetched twice
  // too often.
  const std::int64_t wanted = 4 * static_cast<std::int64_t>(target.threads);
  std::vector<std::vector<std::int64_t>> tiles;
  const auto whole_grid = [](const ir::ArrayArgument& a) {
    return a.kind != ir::ArrayKind::profile && a.side < 0;
  };
  const bool wide = std::count_if(kernel.arrays.begin(), kernel.arrays.end(), whole_grid) > 12;
  if (domain.dims == 2) {
    // Few enough rows that those a block has just computed are in cache when its corrections come.
    const std::int64_t rows_2d = wide ? 8 : 16;
    for (const ir::Range& z : parts(domain.total(0), wanted, whole(kernel, domain, 0)))
      tiles.push_back({z.lo, z.hi, rows_2d});
    return tiles;
  }
  int streams = 0;
  for (const ir::Cost& cost : kernel.costs) streams = std::max(streams, cost.streams);
  const std::int64_t planes = 2 * kernel.halo[0] + 1 + streams;
  // A machine may share the cache it names: planes of many arrays in halves (elastic at order 8 backwards:
  // x0.96).
  const std::int64_t most = wide ? 96 : domain.total(1);
  const std::int64_t rows =
      std::clamp<std::int64_t>(target.cache_bytes / (planes * row_bytes), 8, std::max<std::int64_t>(most, 8));
  const auto blocks = parts(domain.total(1), ceil_div(domain.total(1), rows), whole(kernel, domain, 1));
  const std::int64_t cuts = ceil_div(wanted, static_cast<std::int64_t>(blocks.size()));
  for (const ir::Range& z : parts(domain.total(0), cuts, whole(kernel, domain, 0))) {
    for (const ir::Range& y : blocks) tiles.push_back({z.lo, z.hi, y.lo, y.hi, y.size()});
  }
  return tiles;
}

}  // namespace

std::vector<std::vector<std::int64_t>> host_tiles(const ir::Kernel& kernel, const ir::Domain& domain,
                                                  std::int64_t row_bytes, const HostTarget& target) {
  if (domain.dims == 1) return {{}};
  auto tiles = inner_tiles(kernel, domain, row_bytes, target);
  for (auto& tile : tiles) {
    for (int axis = 0; axis < domain.dims - 1; ++axis) {
      const auto lo = static_cast<std::size_t>(2 * axis);
      if (tile[lo] == 0) tile[lo] -= target.beyond;
      if (tile[lo + 1] == domain.total(axis)) tile[lo + 1] += target.beyond;
    }
  }
  return tiles;
}

}  // namespace ondula::passes
