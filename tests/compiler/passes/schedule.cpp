// schedule: tiles cover every row exactly once.
// SPDX-License-Identifier: MIT
#include "compiler/passes/schedule.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "compiler/passes/pipeline.hpp"
#include "equations/equations.hpp"

namespace ondula::test {
namespace {

ir::Domain domain_of(const std::vector<std::int64_t>& shape) {
  ir::Domain domain;
  domain.dims = static_cast<int>(shape.size());
  std::copy(shape.begin(), shape.end(), domain.shape.begin());
  for (std::size_t a = 0; a < shape.size(); ++a) domain.pad[a] = {3, 2};
  return domain;
}

/// How often each row of the outer axes is visited.
std::vector<int> visits(const std::vector<std::vector<std::int64_t>>& tiles, const ir::Domain& domain) {
  const std::int64_t rows = domain.dims == 3 ? domain.total(1) : 1;
  std::vector<int> count(static_cast<std::size_t>(domain.total(0) * rows), 0);
  for (const auto& tile : tiles) {
    REQUIRE(tile.size() == static_cast<std::size_t>(2 * (domain.dims - 1) + 1));
    CHECK(tile.back() > 0);  // rows of a block
    const ir::Range inner = domain.dims == 3 ? ir::Range{tile[2], tile[3]} : ir::Range{0, 1};
    for (std::int64_t z = tile[0]; z < tile[1]; ++z) {
      for (std::int64_t y = inner.lo; y < inner.hi; ++y) ++count.at(static_cast<std::size_t>(z * rows + y));
    }
  }
  return count;
}

}  // namespace

TEST_CASE("schedule: tiles cover every row exactly once, whatever shape, threads and cache") {
  for (int dims = 2; dims <= 3; ++dims) {
    const ir::KernelSet set =
        passes::compile(equations::acoustic(), {default_axes(dims), 8, false, false}).kernels;
    for (const std::int64_t n : {1, 2, 7, 64, 301}) {
      for (const int threads : {1, 2, 7, 64}) {
        for (const std::int64_t cache : {1 << 12, 1 << 20, 1 << 26}) {
          const ir::Domain domain =
              domain_of(dims == 2 ? std::vector<std::int64_t>{n, 50} : std::vector<std::int64_t>{n, 45, 50});
          for (const ir::Kernel& kernel : set.kernels) {
            const auto count = visits(
                passes::host_tiles(kernel, domain, 4 * domain.total(dims - 1), {threads, cache}), domain);
            CHECK(std::all_of(count.begin(), count.end(), [](int c) { return c == 1; }));
          }
        }
      }
    }
  }
}

TEST_CASE("schedule: no tile is cut inside what runs ahead, or where that is read") {
  for (int dims = 2; dims <= 3; ++dims) {
    const ir::Kernel kernel =
        passes::compile(equations::acoustic(), {default_axes(dims), 8, false, false}).kernels.kernels.front();
    int leading = 0;
    for (const ir::Piece& piece : kernel.pieces) {
      leading += piece.lead_axis >= 0 && piece.lead_axis < dims - 1 ? 1 : 0;
    }
    REQUIRE(leading == dims - 1);
    for (const std::int64_t n : {1, 5, 12, 60}) {
      const ir::Domain domain =
          domain_of(dims == 2 ? std::vector<std::int64_t>{n, 50} : std::vector<std::int64_t>{n, 45, 50});
      for (const auto& tile : passes::host_tiles(kernel, domain, 200, {64, 1 << 12})) {
        for (int axis = 0; axis < dims - 1; ++axis) {
          const std::int64_t cut = tile[static_cast<std::size_t>(2 * axis)];
          const std::int64_t total = domain.total(axis);
          if (cut == 0) continue;
          CHECK(cut >= 3 + 4);
          CHECK(cut <= total - 2 - 4);
        }
      }
    }
  }
}

TEST_CASE("schedule: 1-D is one tile, and every thread gets several where there are rows enough") {
  const auto kernel = [](int dims) {
    return passes::compile(equations::acoustic(), {default_axes(dims), 8, false, false})
        .kernels.kernels.back();
  };
  const std::vector<std::vector<std::int64_t>> one = {{}};
  CHECK(passes::host_tiles(kernel(1), domain_of({100}), 0, {8, 1 << 20}) == one);
  CHECK(passes::host_tiles(kernel(2), domain_of({400, 100}), 400, {8, 1 << 20}).size() >= 16);
  CHECK(passes::host_tiles(kernel(3), domain_of({100, 100, 100}), 400, {8, 1 << 20}).size() >= 16);
}

TEST_CASE("schedule: a smaller cache makes smaller blocks") {
  const ir::Kernel kernel =
      passes::compile(equations::acoustic(), {default_axes(3), 8, false, false}).kernels.kernels.back();
  const ir::Domain domain = domain_of({64, 256, 256});
  const auto large = passes::host_tiles(kernel, domain, 4 * 261, {1, 1 << 24});
  const auto small = passes::host_tiles(kernel, domain, 4 * 261, {1, 1 << 18});
  const auto rows = [](const auto& tiles) { return tiles.front()[3] - tiles.front()[2]; };
  CHECK(rows(small) < rows(large));
}

}  // namespace ondula::test
