// Live ranges, strips, aprons, images and layer profiles.
// SPDX-License-Identifier: MIT
#include "compiler/ir/domain.hpp"

#include <doctest/doctest.h>

#include "tests/compiler/reference/setup.hpp"

using namespace ondula;

namespace {

const ir::Field node{.name = "u"};
const ir::Field normal{.name = "v.z", .kind = ir::FieldKind::vector, .component = {0}, .stagger = {1, 0, 0}};
const ir::Field along{.name = "v.x", .kind = ir::FieldKind::vector, .component = {1}, .stagger = {0, 1, 0}};
const ir::Field diagonal{.name = "s.zz", .kind = ir::FieldKind::tensor, .component = {0, 0}};
const ir::Field shear{
    .name = "s.zx", .kind = ir::FieldKind::tensor, .component = {0, 1}, .stagger = {1, 1, 0}};

bool is(const ir::Range& range, std::int64_t lo, std::int64_t hi) { return range.lo == lo && range.hi == hi; }

double profile(const ir::Domain& domain, const ir::LayerOptions& options, const std::string& name, bool half,
               std::int64_t i) {
  for (const ir::Profile& p : domain.profiles(options)) {
    if (p.name == name && p.axis == 0 && p.half == half) return p.values[static_cast<std::size_t>(i)];
  }
  return NAN;
}

}  // namespace

TEST_CASE("domain: half-cell fields have one live entry fewer, odd surface rows are not live") {
  ir::Domain d = test::domain({10, 12}, 5, FaceKind::rigid);
  CHECK(is(d.live(node, 0), 0, 10));
  CHECK(is(d.live(normal, 0), 0, 9));
  CHECK(is(d.live(node, 2), 0, 1));
  d = test::domain({10, 12}, 5, FaceKind::free_surface);
  CHECK(is(d.live(node, 0), 1, 9));
  CHECK(is(d.live(diagonal, 0), 1, 9));
  CHECK(is(d.live(diagonal, 1), 0, 12));
  CHECK(is(d.live(shear, 0), 0, 9));
  CHECK(is(d.live(along, 0), 0, 10));
  d = test::domain({10, 12}, 5, FaceKind::periodic);
  CHECK(is(d.live(normal, 0), 0, 10));
}

TEST_CASE("domain: rigid walls of an equation with curls conduct: what lies on the row is odd and not live") {
  ir::Domain d = test::domain({10, 12}, 5, FaceKind::rigid);
  // E_y, E_z and H_z at faces normal to z.
  ir::Field across = node, own = normal,
            magnetic{.name = "h.z", .kind = ir::FieldKind::axial, .component = {0}};
  magnetic.stagger = {0, 1, 0};
  for (ir::Field* field : {&across, &own, &magnetic}) field->electric = true;
  CHECK(is(d.live(across, 0), 1, 9));
  CHECK(is(d.live(own, 0), 0, 9));
  CHECK(is(d.live(magnetic, 0), 1, 9));
  CHECK(is(d.live(magnetic, 1), 0, 11));
  for (const int side : {0, 1}) {
    CHECK(d.image(across, 0, side, true).kind == ir::ImageKind::node);
    CHECK(d.image(across, 0, side, true).sign == -1);
    CHECK(d.image(own, 0, side, true).sign == 1);
    CHECK(d.image(own, 1, side, true).sign == -1);
    CHECK(d.image(magnetic, 0, side, true).sign == -1);
    CHECK(d.image(magnetic, 1, side, true).sign == 1);
  }
}

TEST_CASE("domain: strips and aprons of nodes and half cells are mirror images") {
  const ir::Domain d = test::with_layers(test::domain({10, 12}, 5, FaceKind::rigid), 4);
  CHECK(d.total(0) == 18);
  CHECK(is(d.strip(0, 0, false), 0, 4));
  CHECK(is(d.strip(0, 1, false), 14, 18));
  CHECK(is(d.strip(0, 0, true), 0, 4));
  CHECK(is(d.strip(0, 1, true), 13, 17));
  CHECK(is(d.apron(0, 0, false, 3), 4, 7));
  CHECK(is(d.apron(0, 1, false, 3), 11, 14));
  CHECK(is(d.apron(0, 0, false, 30), 4, 14));
  CHECK(is(d.beside(0, 0, false, 3), 4, 7));
  CHECK(is(d.beside(0, 0, false, 12), 4, 16));
  CHECK(is(d.beside(0, 1, false, 12), 2, 14));
  CHECK(is(d.beside(0, 0, true, 30), 4, 17));
  CHECK(is(d.beside(0, 1, true, 30), 0, 13));
}

TEST_CASE("domain: images of each kind of field") {
  const ir::Domain surface = test::domain({10, 12}, 5, FaceKind::free_surface);
  CHECK(surface.image(node, 0, 0, false).sign == -1);
  CHECK(surface.image(diagonal, 0, 0, true).sign == -1);
  CHECK(surface.image(diagonal, 1, 0, true).sign == 1);
  CHECK(surface.image(shear, 1, 1, true).sign == -1);
  CHECK(surface.image(normal, 0, 0, true).sign == 1);
  CHECK(surface.image(along, 0, 1, true).sign == 1);
  const ir::Domain wall = test::domain({10, 12}, 5, FaceKind::rigid);
  CHECK(wall.image(node, 0, 0, false).kind == ir::ImageKind::beyond);
  CHECK(wall.image(node, 0, 0, false).sign == -1);
  CHECK(wall.image(normal, 0, 0, true).kind == ir::ImageKind::node);
  CHECK(wall.image(normal, 0, 0, true).sign == -1);
  CHECK(wall.image(normal, 1, 0, true).sign == 1);
  CHECK(wall.image(diagonal, 0, 0, true).sign == 1);
  CHECK(wall.image(shear, 0, 0, true).sign == -1);
  const ir::Domain test_faces = test::domain({10, 12}, 5, FaceKind::antisymmetric);
  CHECK(test_faces.image(diagonal, 0, 0, true).sign == -1);
  CHECK(test_faces.image(shear, 0, 0, true).sign == 1);
}

TEST_CASE("domain: layer profiles have the reference values") {
  const ir::Domain d = test::with_layers(test::domain({10, 10}, 5, FaceKind::rigid), 20);
  ir::LayerOptions options{.dt = 5e-4, .velocity = 1500, .frequency = 25, .reflection = 1e-3};
  CHECK(profile(d, options, "a", false, 0) == doctest::Approx(0.92523063).epsilon(1e-8));
  CHECK(profile(d, options, "b", false, 0) == doctest::Approx(-0.07476937).epsilon(1e-7));
  CHECK(profile(d, options, "a", false, 10) == doctest::Approx(0.96169011).epsilon(1e-8));
  CHECK(profile(d, options, "b", false, 10) == doctest::Approx(-0.01905350).epsilon(1e-6));
  options.reflection = 0;
  CHECK(profile(d, options, "a", false, 49) == doctest::Approx(0.83416123).epsilon(1e-8));
  CHECK(profile(d, options, "b", false, 39) == doctest::Approx(-0.04389097).epsilon(1e-6));
  for (std::int64_t i = 0; i < 20; ++i) {
    CHECK(profile(d, options, "a", true, i) == profile(d, options, "a", true, 48 - i));
    CHECK(profile(d, options, "b", false, i) == profile(d, options, "b", false, 49 - i));
  }
  CHECK(profile(d, options, "b", false, 20) == 0);
}

TEST_CASE("A27: a layer frequency of 0 gives finite profiles") {
  const ir::Domain d = test::with_layers(test::domain({10}, 5, FaceKind::rigid), 5);
  for (const ir::Profile& p : d.profiles({.dt = 1e-3, .velocity = 1500})) {
    for (const double value : p.values) CHECK(std::isfinite(value));
  }
}
