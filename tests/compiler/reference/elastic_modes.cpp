// Elastic standing modes between antisymmetric faces, which the discrete scheme propagates exactly.
// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "equations/equations.hpp"
#include "tests/compiler/reference/setup.hpp"
#include "tests/support/compare.hpp"

namespace {

using namespace ondula;
using std::numbers::pi;

constexpr double vp = 3000, vs = 1700, rho = 2200, spacing = 10;

enum class Wave { p, s };

/// Component `a` of the velocity: cos along its own axis (half cells, even), sin along the others (nodes,
/// odd).
std::vector<double> velocity(const ir::Domain& domain, std::size_t a, const std::array<double, 3>& theta,
                             double amplitude) {
  return test::sampled(domain, [&](const ir::Extents& i) {
    if (i[a] == domain.total(static_cast<int>(a)) - 1) return 0.0;  // no half cell beyond the last node
    double product = amplitude;
    for (std::size_t b = 0; b < static_cast<std::size_t>(domain.dims); ++b) {
      const auto along = static_cast<double>(i[b]);
      product *= a == b ? std::cos(theta[b] * (along + 0.5)) : std::sin(theta[b] * along);
    }
    return product;
  });
}

/// The largest error of the velocities over 200 steps, from zero stress at t = 0: v = V cos(omega t), V along
/// the discrete wavenumber (P) or across it, between the first and the last axis (S).
double mode_error(const std::vector<std::int64_t>& shape, int order, Wave wave) {
  const ir::Domain domain = test::domain(shape, spacing, FaceKind::antisymmetric);
  const std::size_t dims = shape.size();
  std::array<double, 3> theta{}, symbol{}, amplitude{};
  double squares = 0;
  for (std::size_t a = 0; a < dims; ++a) {
    theta[a] = pi * static_cast<double>(a + 2) / static_cast<double>(shape[a] - 1);
    symbol[a] = test::staggered_symbol(order, theta[a]);
    squares += symbol[a] * symbol[a];
  }
  amplitude = symbol;
  if (wave == Wave::s) {
    amplitude = {symbol[dims - 1], 0, 0};
    amplitude[dims - 1] = -symbol[0];
    squares = 0;
    for (std::size_t a = 0; a < dims; ++a) squares += symbol[a] * symbol[a];
  }
  const double dt = 0.4 * spacing / (vp * std::sqrt(static_cast<double>(dims)));
  const double phase = 2 * std::asin((wave == Wave::p ? vp : vs) * dt / spacing * std::sqrt(squares));

  const ir::Program program = test::program(equations::elastic(), domain.dims, order);
  reference::Executor<double> executor(program, domain, {{"dt", dt}}, {});
  executor.set_parameter("vp", test::constant(domain, vp));
  executor.set_parameter("vs", test::constant(domain, vs));
  executor.set_parameter("rho", test::constant(domain, rho));
  for (std::size_t a = 0; a < dims; ++a) {
    executor.set_field("v." + program.axes[a], 0,
                       velocity(domain, a, theta, amplitude[a] * std::cos(phase / 2)));
  }
  double worst = 0;
  for (int n = 1; n <= 200; ++n) {
    test::run(executor, 1);
    for (std::size_t a = 0; a < dims; ++a) {
      const auto exact = velocity(domain, a, theta, amplitude[a] * std::cos(phase * (n - 0.5)));
      worst = test::detail::worse(worst, test::max_abs_diff(executor.field("v." + program.axes[a]), exact));
    }
  }
  return worst;
}

}  // namespace

TEST_CASE("reference: elastic P modes between antisymmetric faces are exact") {
  for (const int order : {2, 4, 8, 16}) {
    CAPTURE(order);
    CHECK(mode_error({40}, order, Wave::p) < 1e-12);
    CHECK(mode_error({19, 23}, order, Wave::p) < 1e-12);
  }
  CHECK(mode_error({9, 11, 12}, 6, Wave::p) < 1e-12);
}

TEST_CASE("reference: elastic S modes between antisymmetric faces are exact") {
  for (const int order : {2, 6, 10, 16}) {
    CAPTURE(order);
    CHECK(mode_error({19, 23}, order, Wave::s) < 1e-12);
  }
}
