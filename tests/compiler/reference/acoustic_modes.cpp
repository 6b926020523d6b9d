// Acoustic standing and plane waves, which the discrete scheme propagates exactly (verification.md).
// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "equations/equations.hpp"
#include "tests/compiler/reference/setup.hpp"
#include "tests/support/compare.hpp"

namespace {

using namespace ondula;
using std::numbers::pi;

constexpr double speed = 2000, spacing = 10, density = 1800;

struct Case {
  std::vector<std::int64_t> shape;
  int order;
  FaceKind face;
};

/// Half the phase a mode with wavenumbers `theta`/h gains per step: sin^2 = (c dt/2h)^2 sum S.
double half_phase(double dt, double sum_of_symbols) {
  return std::asin(speed * dt / (2 * spacing) * std::sqrt(sum_of_symbols));
}

/// The largest error over `steps` steps of a mode that oscillates as cos(phase n), relative to its amplitude.
double mode_error(reference::Executor<double>& executor, const std::vector<double>& mode, double phase,
                  int steps) {
  executor.clear();
  std::vector<double> before = mode;
  for (double& value : before) value *= std::cos(phase);
  executor.set_field("u", 0, mode);
  executor.set_field("u", -1, before);
  double worst = 0;
  for (int n = 1; n <= steps; ++n) {
    test::run(executor, 1);
    std::vector<double> exact = mode;
    for (double& value : exact) value *= std::cos(phase * n);
    worst = test::detail::worse(worst, test::max_abs_diff(executor.field("u"), exact));
  }
  return worst;
}

/// The standing mode prod sin(n_a pi x_a / L_a) between planes where u = 0.
double standing_error(const EquationDefinition& equation, const Case& c, bool nested) {
  const ir::Domain domain = test::domain(c.shape, spacing, c.face);
  const std::int64_t beyond = c.face == FaceKind::rigid ? 1 : 0;  // a rigid wall is one cell outside
  std::array<double, 3> theta{};
  double symbols = 0;
  for (std::size_t a = 0; a < c.shape.size(); ++a) {
    theta[a] = pi * static_cast<double>(a + 2) / static_cast<double>(c.shape[a] - 1 + 2 * beyond);
    const double staggered = 2 * test::staggered_symbol(c.order, theta[a]);
    symbols += nested ? staggered * staggered : test::second_symbol(c.order, theta[a]);
  }
  const auto mode = test::sampled(domain, [&](const ir::Extents& i) {
    double product = 1;
    for (std::size_t a = 0; a < c.shape.size(); ++a) {
      product *= std::sin(theta[a] * static_cast<double>(i[a] + beyond));
    }
    return product;
  });
  const double dt = 0.4 * spacing / (speed * std::sqrt(static_cast<double>(c.shape.size())));
  reference::Executor<double> executor(test::program(equation, domain.dims, c.order), domain, {{"dt", dt}},
                                       {});
  executor.set_parameter("vp", test::constant(domain, speed));
  if (nested) executor.set_parameter("rho", test::constant(domain, density));
  return mode_error(executor, mode, 2 * half_phase(dt, symbols), 200);
}

}  // namespace

TEST_CASE("reference: acoustic standing modes between rigid walls are exact") {
  for (const Case& c : {Case{{40}, 2, FaceKind::rigid}, Case{{40}, 16, FaceKind::rigid},
                        Case{{19, 23}, 4, FaceKind::rigid}, Case{{19, 23}, 8, FaceKind::rigid},
                        Case{{11, 9, 12}, 6, FaceKind::rigid}, Case{{11, 9, 12}, 12, FaceKind::rigid}}) {
    CAPTURE(c.order);
    CHECK(standing_error(equations::acoustic(), c, false) < 1e-12);
  }
}

TEST_CASE("reference: acoustic standing modes between free surfaces are exact") {
  for (const Case& c :
       {Case{{40}, 4, FaceKind::free_surface}, Case{{40}, 10, FaceKind::free_surface},
        Case{{19, 23}, 2, FaceKind::free_surface}, Case{{19, 23}, 16, FaceKind::free_surface},
        Case{{11, 9, 12}, 8, FaceKind::free_surface}, Case{{11, 9, 12}, 14, FaceKind::antisymmetric}}) {
    CAPTURE(c.order);
    CHECK(standing_error(equations::acoustic(), c, false) < 1e-12);
  }
}

TEST_CASE("reference: standing modes of a constant density are exact for its own discrete dispersion") {
  for (const Case& c :
       {Case{{40}, 4, FaceKind::rigid}, Case{{40}, 16, FaceKind::free_surface},
        Case{{19, 23}, 8, FaceKind::rigid}, Case{{19, 23}, 2, FaceKind::free_surface},
        Case{{11, 9, 12}, 4, FaceKind::rigid}, Case{{11, 9, 12}, 10, FaceKind::free_surface}}) {
    CAPTURE(c.order);
    CHECK(standing_error(equations::acoustic_density(), c, true) < 1e-12);
  }
}

TEST_CASE("reference: a plane wave runs through periodic axes as its discrete dispersion says") {
  const ir::Domain domain = test::domain({16, 20}, spacing, FaceKind::periodic);
  const double kz = 2 * pi * 2 / 16, kx = 2 * pi * 3 / 20;
  const auto wave = [&](double phase) {
    return test::sampled(domain, [&](const ir::Extents& i) {
      return std::cos(kz * static_cast<double>(i[0]) + kx * static_cast<double>(i[1]) - phase);
    });
  };
  const double dt = 0.3 * spacing / speed;
  for (const int order : {2, 8, 16}) {
    const double phase = 2 * half_phase(dt, test::second_symbol(order, kz) + test::second_symbol(order, kx));
    reference::Executor<double> executor(test::program(equations::acoustic(), 2, order), domain, {{"dt", dt}},
                                         {});
    executor.set_parameter("vp", test::constant(domain, speed));
    executor.set_field("u", 0, wave(0));
    executor.set_field("u", -1, wave(-phase));
    test::run(executor, 200);
    CAPTURE(order);
    CHECK(test::max_abs_diff(executor.field("u"), wave(200 * phase)) < 1e-12);
  }
}

TEST_CASE("reference: in float32 a standing mode keeps to float32's rounding") {
  const ir::Domain domain = test::domain({30}, spacing, FaceKind::rigid);
  const double theta = pi * 2 / 31, dt = 0.4 * spacing / speed;
  const double phase = 2 * half_phase(dt, test::second_symbol(8, theta));
  const auto mode = [&](double factor) {
    return test::sampled(domain, [&](const ir::Extents& i) {
      return factor * std::sin(theta * static_cast<double>(i[0] + 1));
    });
  };
  reference::Executor<float> executor(test::program(equations::acoustic(), 1, 8), domain, {{"dt", dt}}, {});
  executor.set_parameter("vp", test::constant(domain, speed));
  executor.set_field("u", 0, mode(1));
  executor.set_field("u", -1, mode(std::cos(phase)));
  test::run(executor, 100);
  const double error = test::max_abs_diff(executor.field("u"), mode(std::cos(100 * phase)));
  CHECK(error < 1e-4);
  CHECK(error > 1e-9);
}
