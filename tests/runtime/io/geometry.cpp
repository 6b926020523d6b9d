// Positions: cells and metres, lines and planes, inside and outside.
// SPDX-License-Identifier: MIT
#include "runtime/io/geometry.hpp"

#include "tests/runtime/io/job_text.hpp"

using namespace ondula;
using namespace ondula::io;
using namespace ondula::job_test;

namespace {

Grid grid_2d() {
  Grid grid;
  grid.axes = {"z", "x"};
  grid.shape = {101, 301};
  grid.spacing = {10, 5};
  grid.origin = {-100, 50};
  grid.faces.assign(2, {Face{}, Face{}});
  return grid;
}

Grid grid_3d() {
  Grid grid;
  grid.axes = {"z", "y", "x"};
  grid.shape = {11, 21, 31};
  grid.spacing = {10, 10, 10};
  grid.origin = {0, 0, 0};
  grid.faces.assign(3, {Face{}, Face{}});
  return grid;
}

}  // namespace

TEST_CASE("E4: positions are metres in the model's coordinates, cells count from the first node") {
  CHECK(to_metres(Position{{-50, 55}, false}, grid_2d()) == std::vector<double>{-50, 55});
  CHECK(to_metres(Position{{5, 1}, true}, grid_2d()) == std::vector<double>{-50, 55});
  CHECK(to_metres(Position{{2}, true}, grid_2d(), {1}) == std::vector<double>{60});
}

TEST_CASE("a line's positions are evenly spaced, ends included, whole steps exact") {
  ReceiverSpec spec;
  spec.layout = ReceiverSpec::Layout::line;
  spec.line = Line{Position{{-100, 50}, false}, Position{{0, 300}, true}, 301};
  const auto positions = expand(spec, grid_2d());
  REQUIRE(positions.size() == 301);
  for (std::size_t i = 0; i < positions.size(); ++i) {
    CHECK(positions[i] == std::vector<double>{-100, 50 + 5 * static_cast<double>(i)});
  }
}

TEST_CASE("a plane's positions run over the other axes, the last fastest") {
  ReceiverSpec spec;
  spec.layout = ReceiverSpec::Layout::plane;
  spec.plane = Plane{1, Position{{4}, true}, Position{{10, 0}, false}, Position{{50, 300}, false}, {3, 4}};
  const auto positions = expand(spec, grid_3d());
  REQUIRE(positions.size() == 12);
  CHECK(positions[0] == std::vector<double>{10, 40, 0});
  CHECK(positions[1] == std::vector<double>{10, 40, 100});
  CHECK(positions[4] == std::vector<double>{30, 40, 0});
  CHECK(positions[11] == std::vector<double>{50, 40, 300});
}

TEST_CASE("E2: outside names axis, value, range and unit, in metres or cells") {
  const Grid grid = grid_2d();
  CHECK_FALSE(outside({-100, 50}, false, grid).has_value());
  CHECK_FALSE(outside({900, 1550}, false, grid).has_value());
  check_mentions(*outside({901, 60}, false, grid), {"z = 901 m lies outside", "z runs from -100 to 900 m"});
  check_mentions(*outside({-100.5, 1600}, false, grid), {"z = -100.5 m"});
  check_mentions(*outside(to_metres(Position{{0, 301}, true}, grid), true, grid),
                 {"x = cell 301", "from cell 0 to 300"});
}

TEST_CASE("E17: a position that would fit with swapped axes says so") {
  const Grid grid = grid_2d();
  check_mentions(*outside(to_metres(Position{{150, 40}, true}, grid), true, grid),
                 {"z = cell 150", "with z and x swapped"});
  check_mentions(*outside({1000, 60}, false, grid), {"with z and x swapped it would lie inside"});
  CHECK(outside({1000, 1500}, false, grid)->find("swapped") == std::string::npos);
  check_mentions(*outside({150, 10, 5}, false, grid_3d()), {"with z and y swapped"});
}

TEST_CASE("a position that rounding left beyond the edge is moved onto it") {
  Grid grid = grid_2d();
  std::vector<double> metres = {900 + 1e-7, 50 - 1e-7};
  CHECK_FALSE(outside(metres, false, grid).has_value());
  snap_to_grid(metres, grid);
  CHECK(metres == std::vector<double>{900, 50});
}

TEST_CASE("A18: which fields vanish on a free surface, and where") {
  Grid grid = grid_2d();
  grid.faces[0][0].kind = FaceKind::free_surface;
  CHECK(silent_face("u", {-100, 60}, grid) == "z-");
  CHECK_FALSE(silent_face("pressure", {-100, 60}, grid).has_value());
  CHECK_FALSE(silent_face("e.zz", {-100, 60}, grid).has_value());
  CHECK(silent_face("s.zz", {-100, 60}, grid) == "z-");
  CHECK_FALSE(silent_face("s.xx", {-100, 60}, grid).has_value());
  CHECK_FALSE(silent_face("v.z", {-100, 60}, grid).has_value());
  CHECK_FALSE(silent_face("u", {-99, 60}, grid).has_value());
  CHECK_FALSE(silent_face("u", {900, 60}, grid).has_value());
}

TEST_CASE("A13: a layer under half a wavelength is warned of") {
  Grid grid = grid_2d();
  check_mentions(
      *layer_warning(grid, 3000, 5),
      {"300 m at 3000 m/s and 5 Hz", "z- (200 m; 30 cells would do)", "x+ (100 m; 60 cells would do)"});
  CHECK_FALSE(layer_warning(grid, 1500, 10).has_value());
  grid.faces[1][0] = Face{FaceKind::rigid, 0};
  CHECK(layer_warning(grid, 3000, 5)->find("x-") == std::string::npos);
}
