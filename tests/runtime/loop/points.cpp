// Sources and receivers on, between and beside nodes.
// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <cmath>

#include "runtime/domain.hpp"
#include "runtime/loop/taps.hpp"
#include "tests/support/compare.hpp"
#include "tests/verification/setup.hpp"

using namespace ondula;
using namespace ondula::test;

namespace {

const ir::Field node{.name = "u"};

std::vector<ir::Tap> taps(const Grid& g, const std::vector<double>& cells,
                          Interpolation interpolation = Interpolation::sinc) {
  return loop::interpolation_taps(make_domain(g, 8), node, false, cells, interpolation);
}

double sum(const std::vector<ir::Tap>& all) {
  double total = 0;
  for (const ir::Tap& tap : all) total += tap.weight;
  return total;
}

double weight_at(const std::vector<ir::Tap>& all, std::int64_t index) {
  double total = 0;
  for (const ir::Tap& tap : all) total += tap.index[0] == index ? tap.weight : 0.0;
  return total;
}

constexpr double dt = 1e-3;

std::vector<double> trace(const Grid& g, const Shot& shot, DType dtype = DType::float64) {
  PropagatorOptions o = options(dt, 200, 8);
  o.dtype = dtype;
  return acoustic_traces(g, o, {2000}, shot)[0];
}

std::vector<double> wavelet() { return ricker_wavelet(20, 0.075, dt, 200); }

}  // namespace

TEST_CASE("A17: away from a mirror the weights sum to 1, in 1-D, 2-D and 3-D, sinc and linear") {
  for (const double part : {0.0, 0.001, 0.25, 0.5, 0.73, 0.999}) {
    std::vector<double> cells;
    for (std::size_t dims = 1; dims <= 3; ++dims) {
      cells.push_back(8 + part * static_cast<double>(dims) / 3);
      const Grid g = grid(std::vector<std::int64_t>(dims, 20), 10);
      CHECK(std::fabs(sum(taps(g, cells)) - 1) < 1e-14);
      CHECK(std::fabs(sum(taps(g, cells, Interpolation::linear)) - 1) < 1e-14);
      CHECK(taps(g, cells).size() <= static_cast<std::size_t>(std::pow(8, dims)));
    }
  }
}

TEST_CASE("A17: on a node a source has exactly one weight, and beside it nearly the same trace") {
  const Grid g = grid({40, 40}, 10, {FaceKind::absorbing, 10});
  const auto on = taps(g, {12, 31});
  REQUIRE(on.size() == 1);
  CHECK(on[0].weight == 1.0);
  CHECK(on[0].index == ir::Extents{22, 41, 0});
  // Up to 1e-6 of a cell is rounding of metres; a little more is interpolated.
  const auto through = [&](double shift) {
    Shot shot;
    shot.sources.push_back(source({200 + shift, 200}, wavelet()));
    shot.receivers.push_back(receiver({200, 300}));
    return trace(g, shot);
  };
  const auto plain = through(0), interpolated = through(1.1e-5);
  CHECK(max_abs_diff(through(1e-9), plain) == 0);
  CHECK(max_abs_diff(interpolated, plain) > 0);
  CHECK(max_abs_diff(interpolated, plain) / max_abs(plain) < 1e-6);
}

TEST_CASE(
    "A17: beside a free surface taps fold with the sign of the image, at a wall they fold about its plane") {
  Grid g = grid({30}, 10, free_surface);
  const auto folded = taps(g, {1.5});
  const auto unfolded = taps(grid({30}, 10), {11.5});  // the same weights, far from any face
  // u(-k) = -u(k), and u(0) = 0 is not live.
  for (std::int64_t k = 1; k <= 5; ++k) {
    const double image = weight_at(unfolded, 10 - k);
    CHECK(weight_at(folded, k) == doctest::Approx(weight_at(unfolded, 10 + k) - image).epsilon(1e-14));
  }
  CHECK(weight_at(folded, 0) == 0);
  // On the other side the same, mirrored.
  const auto other = taps(g, {27.5});
  for (std::int64_t k = 1; k <= 5; ++k) {
    CHECK(weight_at(other, 29 - k) == doctest::Approx(weight_at(folded, k)).epsilon(1e-12));
  }
  // A rigid wall one cell beyond node 0: u(-1) = 0, u(-1 - k) = -u(-1 + k).
  const auto wall = taps(grid({30}, 10), {0.5});
  for (std::int64_t k = 0; k <= 3; ++k) {
    const double image = weight_at(unfolded, 9 - k);  // node -2 - k, the image of k, as 11 - 2 - k
    CHECK(weight_at(wall, k) == doctest::Approx(weight_at(unfolded, 11 + k) - image).epsilon(1e-14));
  }
  g.faces[0] = {Face{FaceKind::periodic, 0}, Face{FaceKind::periodic, 0}};
  CHECK(std::fabs(sum(taps(g, {0.5})) - 1) < 1e-14);
  CHECK(weight_at(taps(g, {0.5}), 29) == doctest::Approx(weight_at(unfolded, 10)).epsilon(1e-14));
}

TEST_CASE("A21: 50 sources in one cell equal one of their sum, with the same bits every run") {
  const Grid g = grid({40, 40}, 10, {FaceKind::absorbing, 10});
  Random random(11);
  Shot many, one;
  double total = 0;
  for (int i = 0; i < 50; ++i) {
    Source s = source({203.1, 201.7}, wavelet());
    s.strength = random.normal();
    total += s.strength;
    many.sources.push_back(s);
  }
  one.sources.push_back(source({203.1, 201.7}, wavelet()));
  one.sources[0].strength = total;
  many.receivers = one.receivers = {receiver({107.7, 288.0})};
  CHECK(relative_l2(trace(g, many), trace(g, one)) < 1e-13);
  // The strengths nearly cancel (their sum is 0.03, each is about 1), so that float32's rounding of each
  // shows.
  const double rounding = relative_l2(trace(g, many, DType::float32), trace(g, one, DType::float32));
  CHECK(rounding < 2e-5);
  MESSAGE("float32: " << rounding << ", the sum of strengths " << total);
  for (const DType dtype : {DType::float32, DType::float64}) {
    const auto first = trace(g, many, dtype);
    for (int repeat = 0; repeat < 4; ++repeat) CHECK(max_abs_diff(trace(g, many, dtype), first) == 0);
  }
}

TEST_CASE("E16: two receivers in one cell give two traces, and the record's shape ignores the layer") {
  for (const int width : {0, 7}) {
    const Grid g = grid({40, 30}, 10, {FaceKind::absorbing, width});
    Propagator propagator(equations::acoustic(), g, options(dt, 50, 8));
    propagator.set_model("vp", 2000);
    Shot shot;
    shot.sources.push_back(source({200, 150}, wavelet()));
    shot.receivers = {receiver({201, 171}), receiver({203, 173}), receiver({201, 171})};
    const Traces traces = propagator.forward({&shot, 1})[0].at("u");
    CHECK(traces.receivers == 3);
    CHECK(traces.samples == 50);
    const auto each = rows(traces);
    CHECK(each[0] != each[1]);
    CHECK(each[0] == each[2]);
    CHECK(propagator.state().at("u").size() == 40 * 30);
  }
}
