// The synthetic basin: what it holds, and that it is the same everywhere.
// SPDX-License-Identifier: MIT
#include "runtime/io/basin.hpp"

#include <doctest/doctest.h>
#include <xxhash.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "compiler/error.hpp"

using namespace ondula;
using namespace ondula::io;

namespace {

std::uint64_t hash(const Array& array) {
  return XXH3_64bits(array.data.data(), array.data.size() * sizeof(double));
}

double value(const Array& array, std::int64_t z, std::int64_t x) {
  return array.data[static_cast<std::size_t>(z * array.shape.back() + x)];
}

std::pair<double, double> range(const Array& array) {
  const auto [low, high] = std::minmax_element(array.data.begin(), array.data.end());
  return {*low, *high};
}

}  // namespace

TEST_CASE("basin: the default section is the same to the bit on every machine") {
  const Basin basin = make_basin({});
  REQUIRE(basin.vp.shape == std::vector<std::int64_t>{150, 400});
  CHECK(hash(basin.vp) == 0x2c1dc1b296a94dcfULL);
  CHECK(hash(basin.vs) == 0x4f7d11a9055986bULL);
  CHECK(hash(basin.rho) == 0xbacda5362ea86a24ULL);
  CHECK(hash(make_basin(default_basin_volume()).vp) == 0x656123db5d5f2e2cULL);
}

TEST_CASE("basin: vp, vs and rho are those of rock, and vs stays under what elasticity allows") {
  for (const double water : {0.0, 200.0}) {
    const Basin basin = make_basin({{150, 400}, {20.0, 20.0}, water});
    CHECK(range(basin.vp).first >= 1100.0);
    CHECK(range(basin.vp).second < 5500.0);
    CHECK(range(basin.rho).first >= 1025.0);
    CHECK(range(basin.rho).second < 2700.0);
    std::size_t wrong = 0;
    for (std::size_t k = 0; k < basin.vp.data.size(); ++k) {
      const double vp = basin.vp.data[k], vs = basin.vs.data[k];
      const bool fluid = vp == 1500.0 && vs == 0.0 && basin.rho.data[k] == 1025.0;
      if (!fluid && !(vs > 300.0 && vs < vp / std::sqrt(2.0))) ++wrong;
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE(
    "basin: a section holds a salt body, a soft surface that varies, many layers, and velocity that grows") {
  const Basin basin = make_basin({});
  std::int64_t salt = 0;
  for (std::size_t k = 0; k < basin.vp.data.size(); ++k)
    if (basin.vp.data[k] == 4500.0 && basin.vs.data[k] == 2600.0 && basin.rho.data[k] == 2150.0) ++salt;
  CHECK(salt > 3000);
  std::set<double> surface;
  for (std::int64_t x = 0; x < 400; ++x) {
    CHECK(value(basin.vs, 0, x) < 530.0);
    surface.insert(value(basin.vp, 0, x));
  }
  CHECK(surface.size() > 50);
  CHECK(*surface.rbegin() - *surface.begin() > 150.0);
  int jumps = 0;
  for (std::int64_t z = 1; z < 150; ++z)
    if (std::abs(value(basin.vp, z, 100) - value(basin.vp, z - 1, 100)) > 100.0) ++jumps;
  CHECK(jumps >= 12);
  double shallow = 0.0, deep = 0.0;
  for (std::int64_t x = 0; x < 100; ++x) {
    shallow += value(basin.vp, 15, x);
    deep += value(basin.vp, 120, x);
  }
  CHECK(deep > 1.3 * shallow);
}

TEST_CASE("basin: the fault offsets the basement by its throw") {
  const Basin basin = make_basin({{600, 1600}, {5.0, 5.0}});
  const auto basement = [&](std::int64_t x) {
    std::int64_t z = 0;
    while (z < 600 && !(value(basin.vp, z, x) > 5000.0)) ++z;
    return 5.0 * static_cast<double>(z);
  };
  double largest = 0.0;
  for (std::int64_t x = 700; x < 1000; ++x) largest = std::max(largest, basement(x + 20) - basement(x));
  CHECK(largest > 0.05 * 3000.0);
  CHECK(largest < 0.12 * 3000.0);
}

TEST_CASE("basin: water lies on top, as deep as asked for") {
  const Basin basin = make_basin({{150, 400}, {20.0, 20.0}, 200.0});
  std::int64_t deepest = 0, shallowest = 150;
  for (std::int64_t x = 0; x < 400; ++x) {
    std::int64_t z = 0;
    while (value(basin.vs, z, x) == 0.0) ++z;
    deepest = std::max(deepest, z);
    shallowest = std::min(shallowest, z);
    CHECK(value(basin.vp, z, x) >= 1550.0);
  }
  CHECK(deepest <= 10);
  CHECK(deepest >= 9);
  CHECK(shallowest >= 7);
}

TEST_CASE("basin: the section is the middle of the volume") {
  const Basin section = make_basin({{40, 60}, {50.0, 100.0}});
  const Basin volume = make_basin({{40, 5, 60}, {50.0, 80.0, 100.0}});
  for (std::int64_t z = 0; z < 40; ++z)
    for (std::int64_t x = 0; x < 60; ++x)
      CHECK(volume.vp.data[static_cast<std::size_t>((z * 5 + 2) * 60 + x)] == value(section.vp, z, x));
}

TEST_CASE("basin: a finer grid shows the same geology") {
  const Basin coarse = make_basin({{75, 201}, {40.0, 40.0}});
  const Basin fine = make_basin({{225, 603}, {40.0 / 3.0, 40.0 / 3.0}});
  int equal = 0;
  for (std::int64_t z = 0; z < 75; ++z)
    for (std::int64_t x = 0; x < 201; ++x)
      if (std::abs(value(coarse.vp, z, x) - value(fine.vp, 3 * z, 3 * x + 1)) < 1.0) ++equal;
  CHECK(equal > 0.99 * 75 * 201);
}

TEST_CASE("basin: another seed makes other layers; tiny and thin shapes work; nonsense is refused") {
  BasinOptions options;
  options.seed = 2;
  CHECK(hash(make_basin(options).vp) != hash(make_basin({}).vp));
  CHECK(make_basin({{2, 2}, {1.0, 1.0}}).vp.data.size() == 4);
  CHECK(make_basin({{3, 2, 500}, {1.0, 900.0, 7.0}}).rho.data.size() == 3000);
  CHECK_THROWS_AS(make_basin({{10}, {1.0}}), UserError);
  CHECK_THROWS_AS(make_basin({{10, 1}, {1.0, 1.0}}), UserError);
  CHECK_THROWS_AS(make_basin({{10, 10}, {1.0, 0.0}}), UserError);
  CHECK_THROWS_AS(make_basin({{10, 10}, {1.0}}), UserError);
  CHECK_THROWS_AS(make_basin({{10, 10}, {10.0, 10.0}, 60.0}), UserError);
}
