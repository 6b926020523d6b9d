// Waves in a medium whose density varies: energy, and the nested derivative on a polynomial.
// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>

#include "equations/equations.hpp"
#include "tests/equations/energy.hpp"
#include "tests/runtime/jit/support.hpp"
#include "tests/support/compare.hpp"

namespace ondula::test {
namespace {

constexpr std::int64_t side = 128;

/// 2000 m/s, 1000 kg/m^3, and three times that in 5x5 cells beside the source.
EngineCase with_block(FaceKind face, std::int64_t width) {
  EngineCase c;
  c.domain = layered({side, side}, width);
  for (std::size_t a = 0; a < 2; ++a) c.domain.faces[a] = {face, face};
  c.order = 8;
  c.dt = 2e-3;
  c.layer_velocity = 2000;
  c.layer_frequency = 15;
  c.models["vp"] = {2000};
  c.models["rho"].assign(side * side, 1000);
  for (std::int64_t i = 60; i < 65; ++i) {
    for (std::int64_t j = 66; j < 71; ++j) c.models["rho"][static_cast<std::size_t>(i * side + j)] = 3000;
  }
  return c;
}

/// The energy at the end of a source of 150 samples in the middle, then every 200 steps up to `steps`.
std::vector<double> energies(const EngineCase& c, std::int64_t steps) {
  Running running = on_host(equations::acoustic_density(), c);
  ir::PointSource source{"u", {{{c.domain.total(0) / 2, c.domain.total(1) / 2, 0}, 1e-6}}, {}, false};
  for (int n = 0; n < 150; ++n) {
    const double a = std::pow(M_PI * 15 * (n * c.dt - 0.13), 2);
    source.samples.push_back((1 - 2 * a) * std::exp(-a));
  }
  running.engine->set_points({source}, {});
  std::vector<double> found;
  std::int64_t n = 0;
  for (std::int64_t look = 150; look < steps; look += 200) {
    for (; n < look; ++n) running.engine->step(n, {});
    const auto now = running.engine->field("u", 0);
    running.engine->step(n++, {});
    found.push_back(density_energy(c, now, running.engine->field("u", 0)));
  }
  return found;
}

}  // namespace

TEST_CASE("A5: a 5x5 block of three times the density: the energy stays as it is between free faces") {
  ONDULA_NEEDS_CLANG();
  const std::vector<double> found = energies(with_block(FaceKind::free_surface, 0), 4000);
  double worst = 0;
  for (const double energy : found) worst = detail::worse(worst, std::fabs(energy / found[0] - 1));
  CHECK(found[0] > 0);
  CHECK(worst < 1e-12);
  MESSAGE("relative drift over 4000 steps: ", worst);
}

TEST_CASE("A5: a 5x5 block of three times the density: the energy never grows between layers, float32") {
  ONDULA_NEEDS_CLANG();
  EngineCase c = with_block(FaceKind::absorbing, 20);
  c.dtype = DType::float32;
  const std::vector<double> found = energies(c, 4000);
  CHECK(found[0] > 0);
  // What is left then swings slowly, far under f_c, in layers and interior.
  const double floor = 1e-9 * found[0];
  for (std::size_t i = 1; i < found.size(); ++i) CHECK(found[i] <= std::max(found[i - 1], floor));
  CHECK(found.back() < 1e-8 * found[0]);
  MESSAGE(fmt::format("left after 400, 1000, 4000 steps: {:.1e}, {:.1e}, {:.1e}", found[2] / found[0],
                      found[5] / found[0], found.back() / found[0]));
}

TEST_CASE("A15: the nested derivative of x^3 is 6x to rounding, in compiled kernels at orders 4 to 16") {
  ONDULA_NEEDS_CLANG();
  constexpr std::int64_t nodes = 50;
  double worst = 0;
  for (int order = 4; order <= 16; order += 4) {
    EngineCase c;
    c.domain = layered({nodes}, 0);
    c.domain.spacing[0] = 1;
    c.order = order;
    c.dt = 1;
    c.models["vp"] = {1};
    c.models["rho"] = {1};
    std::vector<double> cubes;
    for (std::int64_t i = 0; i < nodes; ++i) cubes.push_back(std::pow(static_cast<double>(i) / 10, 3));
    Running running = on_host(equations::acoustic_density(), c);
    running.engine->set_field("u", 0, cubes);
    running.engine->set_field("u", -1, cubes);
    running.steps(1);
    const std::vector<double> next = running.engine->field("u", 0);
    for (std::int64_t i = order; i < nodes - order; ++i) {
      const auto n = static_cast<std::size_t>(i);
      worst = detail::worse(worst, std::fabs(next[n] - cubes[n] - 6e-3 * static_cast<double>(i)));
    }
  }
  CHECK(worst < 1e-12);
  MESSAGE("largest error ", worst, " of values up to 0.3, differences of values up to 118");
}

}  // namespace ondula::test
