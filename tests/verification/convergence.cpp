// The order of convergence in space, with time's error compensated (verification.md, Exact on the grid).
// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <numbers>
#include <vector>

#include "tests/support/compare.hpp"
#include "tests/verification/setup.hpp"

using namespace ondula;
using namespace ondula::test;
using std::numbers::pi;

namespace {

constexpr double speed = 2000, coarse_spacing = 10;
constexpr int periods_and_a_half = 3;  // cos crosses 0 there, where an error of the phase shows undamped

/// The standing mode sin(m pi x/L) along every axis between rigid walls, L = `cells` spacings: the largest
/// error after `steps` steps when it is started and judged with the continuum's frequency as the step deforms
/// it, sin(omega dt/2) = c |k| dt/2.
double mode_error(int dims, int order, int m, int cells, double spacing, double dt, std::int64_t steps,
                  double phase) {
  const Grid g = grid(std::vector<std::int64_t>(static_cast<std::size_t>(dims), cells - 1), spacing);
  const auto mode = [&](double factor) {
    return on_nodes(g, [&](const std::vector<std::int64_t>& node) {
      double product = factor;
      for (const std::int64_t i : node) product *= std::sin(m * pi * static_cast<double>(i + 1) / cells);
      return product;
    });
  };
  Propagator propagator(equations::acoustic(), g, options(dt, steps, order));
  propagator.set_model("vp", speed);
  propagator.set_initial("u", mode(1));
  propagator.set_initial("u.previous", mode(std::cos(phase)));
  const Shot nothing;
  propagator.forward({&nothing, 1});
  const auto exact = mode(std::cos(phase * static_cast<double>(steps)));
  return max_abs_diff(propagator.state().at("u"), exact) / max_abs(mode(1));
}

/// What the symbol predicts: the relative error of omega^2 on the coarse grid over that on the fine one.
double predicted_slope(int order, int m, int cells) {
  const auto defect = [&](double theta) {
    return 1 - second_derivative_symbol(order, theta) / (theta * theta);
  };
  return std::log2(defect(m * pi / cells) / defect(m * pi / (2 * cells)));
}

double measured_slope(int dims, int order, int m, int cells) {
  const double k = m * pi / (cells * coarse_spacing) * std::sqrt(static_cast<double>(dims));
  // The same step on both grids, stable on the fine one; whole steps up to the time where cos(omega t) = 0.
  const double time = (periods_and_a_half + 0.5) * pi / (speed * k);
  const double most = 0.5 * acoustic_limit(order, dims, coarse_spacing / 2, speed);
  const auto steps = static_cast<std::int64_t>(std::ceil(time / most));
  const double dt = time / static_cast<double>(steps);
  const double phase = 2 * std::asin(speed * k * dt / 2);
  const double coarse = mode_error(dims, order, m, cells, coarse_spacing, dt, steps, phase);
  return std::log2(coarse / mode_error(dims, order, m, 2 * cells, coarse_spacing / 2, dt, steps, phase));
}

/// The measured slopes of some orders, each checked against what the symbol predicts.
std::vector<double> predicted_slopes(int dims, const std::vector<int>& orders, int m, int cells) {
  std::vector<double> slopes;
  for (const int order : orders) {
    slopes.push_back(measured_slope(dims, order, m, cells));
    CAPTURE(dims);
    CAPTURE(order);
    CHECK(std::fabs(slopes.back() - predicted_slope(order, m, cells)) < 0.05);
  }
  return slopes;
}

}  // namespace

TEST_CASE("convergence: orders 2 to 10 at kh <= 0.5 are as predicted and nominal, 1-D to 3-D") {
  for (int dims = 1; dims <= 3; ++dims) {
    const std::vector<int> orders = {2, 4, 6, 8, 10};
    const std::vector<double> slopes = predicted_slopes(dims, orders, 1, 7);
    for (std::size_t i = 0; i < orders.size(); ++i) CHECK(std::fabs(slopes[i] - orders[i]) < 0.2);
    MESSAGE(dims << "-D, kh 0.449 and 0.224:" << fmt::format(" {:.3f}", fmt::join(slopes, " ")));
  }
}

// At kh <= 0.5 an error of these orders is as small as rounding: the wave is shorter here.
TEST_CASE("convergence: orders 12 to 16 are as the symbol predicts, 1-D to 3-D") {
  for (int dims = 1; dims <= 3; ++dims) {
    const std::vector<double> slopes = predicted_slopes(dims, {12, 14, 16}, 4, 11);
    MESSAGE(dims << "-D, kh 1.142 and 0.571:" << fmt::format(" {:.3f}", fmt::join(slopes, " ")));
  }
}
