// The discrete energy of elastic waves between mirroring faces (numerics.md, Free surface: conserved exactly,
// in every medium and at every order). SPDX-License-Identifier: MIT
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>

#include "equations/equations.hpp"
#include "tests/equations/energy.hpp"
#include "tests/runtime/jit/support.hpp"
#include "tests/support/compare.hpp"

namespace ondula::test {
namespace {

EngineCase noise_medium(const std::vector<std::int64_t>& shape, int order, FaceKind face) {
  EngineCase c;
  c.domain = layered(shape, 0);
  for (std::size_t a = 0; a < shape.size(); ++a) c.domain.faces[a] = {face, face};
  c.order = order;
  c.models["vp"] = scattered(c.domain, 2500, 3000, 1);
  c.models["vs"] = scattered(c.domain, 1000, 1500, 2);
  c.models["rho"] = scattered(c.domain, 1000, 2500, 3);
  return c;
}

/// Noise in every velocity and stress.
void set_noise(Running& running, const EngineCase& c) {
  unsigned seed = 10;
  for (const ir::Field& field : running.compilation.physical.fields) {
    if (field.strip_axis >= 0) continue;
    const double size = field.kind == ir::FieldKind::vector ? 1 : 4e6;
    running.engine->set_field(field.name, 0, scattered(c.domain, -size, size, ++seed));
  }
}

/// The largest relative change of the energy over `steps` steps, looked at ten times.
double drift(Running running, const EngineCase& c, std::int64_t steps) {
  set_noise(running, c);
  const auto energy = [&] {
    const Fields before = running.fields();
    running.steps(1);
    return elastic_energy(c, before, running.fields());
  };
  const std::vector<double> at_start = running.fields().at("v.z");
  const double start = energy();
  CHECK(start > 0);
  double worst = 0;
  for (int look = 0; look < 10; ++look) {
    running.steps(steps / 10 - 1);
    worst = detail::worse(worst, std::fabs(energy() / start - 1));
  }
  CHECK(running.fields().at("v.z") != at_start);
  return worst;
}

}  // namespace

TEST_CASE("elastic: four free faces conserve the energy of noise over 20,000 steps, orders 2 to 16") {
  ONDULA_NEEDS_CLANG();
  std::string found;
  for (int order = 2; order <= 16; order += 2) {
    CAPTURE(order);
    const EngineCase c = noise_medium({15, 18}, order, FaceKind::free_surface);
    const double worst = drift(on_host(equations::elastic(), c), c, 20000);
    CHECK(worst < 1e-12);
    found += fmt::format(" {:.1e}", worst);
  }
  MESSAGE("relative drift:" << found);
}

TEST_CASE("elastic: six free faces conserve the energy in 3-D, edges and corners with them") {
  ONDULA_NEEDS_CLANG();
  EngineCase c = noise_medium({7, 9, 8}, 4, FaceKind::free_surface);
  c.dt = 8e-4;
  double worst = drift(on_host(equations::elastic(), c), c, 2000);
  c.order = 16;  // its stencil is wider than the grid: images of images
  worst = detail::worse(worst, drift(on_reference(equations::elastic(), c), c, 300));
  CHECK(worst < 1e-12);
  MESSAGE("relative drift ", worst);
}

TEST_CASE("elastic: walls, and walls beside free faces, conserve the energy, 1-D to 3-D") {
  ONDULA_NEEDS_CLANG();
  double worst = 0;
  for (const auto& shape : {std::vector<std::int64_t>{21}, {13, 12}, {7, 9, 8}}) {
    for (const bool mixed : {false, true}) {
      EngineCase c = noise_medium(shape, 4, FaceKind::rigid);
      if (mixed) c.domain.faces[0][0] = c.domain.faces[shape.size() - 1][1] = FaceKind::free_surface;
      c.dt = 8e-4;
      const double found = drift(on_host(equations::elastic(), c), c, 1000);
      CHECK(found < 1e-12);
      worst = detail::worse(worst, found);
    }
  }
  MESSAGE("relative drift ", worst);
}

}  // namespace ondula::test
