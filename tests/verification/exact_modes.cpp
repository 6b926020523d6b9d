// Waves that the discrete scheme propagates exactly, through compiled kernels (verification.md, Exact on the
// grid). SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <cmath>
#include <numbers>

#include "tests/support/compare.hpp"
#include "tests/support/environment.hpp"
#include "tests/verification/setup.hpp"

using namespace ondula;
using namespace ondula::test;
using std::numbers::pi;

namespace {

constexpr double speed = 2000, spacing = 10;

/// A field that oscillates in time as shape(node) cos(phase n) at step n.
struct Mode {
  Grid grid;
  std::vector<double> shape;
  double phase = 0;
};

std::vector<double> scaled(std::vector<double> values, double factor) {
  for (double& v : values) v *= factor;
  return values;
}

/// prod sin(numbers[a] pi x_a/L_a), 0 on planes through the outermost nodes, or a cell beyond them at rigid
/// walls. Sets theta_a, the phase per cell.
std::vector<double> standing(const Grid& grid, const std::vector<int>& numbers, std::vector<double>& theta) {
  const int beyond = grid.faces[0][0].kind == FaceKind::rigid ? 1 : 0;
  theta.clear();
  for (std::size_t a = 0; a < numbers.size(); ++a) {
    theta.push_back(numbers[a] * pi / static_cast<double>(grid.shape[a] - 1 + 2 * beyond));
  }
  return on_nodes(grid, [&](const std::vector<std::int64_t>& node) {
    double product = 1;
    for (std::size_t a = 0; a < node.size(); ++a) {
      product *= std::sin(theta[a] * static_cast<double>(node[a] + beyond));
    }
    return product;
  });
}

/// sin^2(omega dt/2) = (c dt/2h)^2 sum S: the phase a step.
double exact_phase(double dt, int order, const std::vector<double>& theta) {
  double sum = 0;
  for (const double t : theta) sum += second_derivative_symbol(order, t);
  return 2 * std::asin(speed * dt / (2 * spacing) * std::sqrt(sum));
}

/// The largest difference from the mode at any 25th step and at the end, relative to the mode's amplitude.
double worst_error(const Mode& mode, const PropagatorOptions& options) {
  Propagator propagator(equations::acoustic(), mode.grid, options);
  propagator.set_model("vp", speed);
  propagator.set_initial("u", mode.shape);
  propagator.set_initial("u.previous", scaled(mode.shape, std::cos(mode.phase)));
  double worst = 0;
  const auto compare = [&](const std::vector<double>& u, std::int64_t n) {
    const auto exact = scaled(mode.shape, std::cos(mode.phase * static_cast<double>(n)));
    worst = detail::worse(worst, max_abs_diff(u, exact));
  };
  propagator.on_step(25, [&](const StepView& view) { compare(view.field("u"), view.step); });
  const Shot nothing;
  propagator.forward({&nothing, 1});
  compare(propagator.state().at("u"), options.steps);
  return worst / max_abs(mode.shape);
}

const std::vector<std::vector<std::int64_t>> shapes = {{40}, {19, 23}, {11, 9, 12}};

std::vector<int> mode_numbers(int dims) {
  const std::vector<int> numbers = {2, 3, 4};
  return {numbers.begin(), numbers.begin() + dims};
}

/// Every order and dimension, the mode standing between faces of one kind.
void check_standing(Face face) {
  double worst = 0;
  for (const auto& shape : shapes) {
    for (int order = 2; order <= 16; order += 2) {
      const int dims = static_cast<int>(shape.size());
      Mode mode{grid(shape, spacing, face), {}, 0};
      std::vector<double> theta;
      mode.shape = standing(mode.grid, mode_numbers(dims), theta);
      const double dt = 0.7 * acoustic_limit(order, dims, spacing, speed);
      mode.phase = exact_phase(dt, order, theta);
      const double error = worst_error(mode, options(dt, 500, order));
      CAPTURE(dims);
      CAPTURE(order);
      CHECK(error < 1e-12);
      worst = detail::worse(worst, error);
    }
  }
  MESSAGE("largest error over 500 steps: " << worst);
}

}  // namespace

TEST_CASE("exact: modes between rigid walls over 500 steps, 1-D to 3-D, orders 2 to 16") {
  check_standing(rigid);
}

TEST_CASE("exact: modes between free surfaces over 500 steps, 1-D to 3-D, orders 2 to 16") {
  check_standing(free_surface);
}

TEST_CASE("exact: modes between antisymmetric faces over 500 steps, 1-D to 3-D, orders 2 to 16") {
  check_standing({FaceKind::antisymmetric, 0});
}

TEST_CASE("exact: a plane wave through periodic axes over 500 steps, 1-D to 3-D, orders 2 to 16") {
  double worst = 0;
  for (const auto& shape : shapes) {
    for (int order = 2; order <= 16; order += 2) {
      const int dims = static_cast<int>(shape.size());
      const Grid g = grid(shape, spacing, {FaceKind::periodic, 0});
      std::vector<double> theta;
      for (std::size_t a = 0; a < shape.size(); ++a) {
        theta.push_back(2 * pi * static_cast<double>(a + 1) / static_cast<double>(shape[a]));
      }
      const double dt = 0.7 * acoustic_limit(order, dims, spacing, speed);
      const double phase = exact_phase(dt, order, theta);
      const auto wave = [&](double at) {
        return on_nodes(g, [&](const std::vector<std::int64_t>& node) {
          double argument = -at;
          for (std::size_t a = 0; a < node.size(); ++a) argument += theta[a] * static_cast<double>(node[a]);
          return std::cos(argument);
        });
      };
      Propagator propagator(equations::acoustic(), g, options(dt, 500, order));
      propagator.set_model("vp", speed);
      propagator.set_initial("u", wave(0));
      propagator.set_initial("u.previous", wave(-phase));
      const Shot nothing;
      propagator.forward({&nothing, 1});
      const double error = max_abs_diff(propagator.state().at("u"), wave(500 * phase));
      CAPTURE(dims);
      CAPTURE(order);
      CHECK(error < 1e-12);
      worst = detail::worse(worst, error);
    }
  }
  MESSAGE("largest error over 500 steps: " << worst);
}
