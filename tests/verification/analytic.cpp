// Traces of homogeneous media against Green's functions, amplitude included (verification.md, Acoustic).
// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "runtime/io/npy.hpp"
#include "tests/support/compare.hpp"
#include "tests/support/environment.hpp"
#include "tests/support/skip.hpp"
#include "tests/verification/green.hpp"
#include "tests/verification/setup.hpp"

using namespace ondula;
using namespace ondula::test;

namespace {

constexpr double speed = 2000, frequency = 20;  // a wavelength of 100 m
constexpr double wavelength = speed / frequency;
constexpr double delay = 1.6 / frequency;

double f(double t) { return ricker(frequency, t - delay); }

double distance(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return std::sqrt(sum);
}

/// How a trace compares with the exact one: relative L2 error, and <trace, exact>/<exact, exact> - 1.
struct Agreement {
  double error = 0, amplitude = 0;
};

Agreement agreement(const std::vector<double>& trace, const std::vector<double>& exact) {
  double product = 0;
  for (std::size_t i = 0; i < trace.size(); ++i) product += trace[i] * exact[i];
  return {relative_l2(trace, exact), product / energy(exact) - 1};
}

/// A source and a receiver in a homogeneous medium, the grid as small as the faces let it be.
struct Experiment {
  std::vector<double> from, to;  // m, from the grid's origin
  std::vector<double> size;      // m, of the grid
  bool surface = false;          // free on z-, where z = 0
  Interpolation interpolation = Interpolation::sinc;
};

/// On spacing h at c dt/h = 0.08, order 8; layers on every other face, of 20 cells in 2-D and 10 in 3-D,
/// whose reflections are far under what is judged here (reflections.cpp).
Agreement run(const Experiment& e, double h) {
  constexpr double courant = 0.08;
  const int dims = static_cast<int>(e.from.size());
  std::vector<std::int64_t> shape;
  for (const double s : e.size) shape.push_back(std::llround(s / h) + 1);
  Grid g = grid(shape, h, {FaceKind::absorbing, dims == 2 ? 20 : 10});
  if (e.surface) g.faces[0][0] = free_surface;
  std::vector<double> image = e.from;
  image[0] = -image[0];
  const double r = distance(e.from, e.to), far = e.surface ? distance(image, e.to) : r;
  const double dt = courant * h / speed;
  const int steps = static_cast<int>((far / speed + 2 * delay) / dt);
  Shot shot;
  shot.sources.push_back(source(e.from, ricker_wavelet(frequency, delay, dt, steps), e.interpolation));
  shot.receivers.push_back(receiver(e.to, e.interpolation));
  const auto trace = acoustic_traces(g, options(dt, steps, 8), {speed}, shot)[0];
  auto exact = green_trace(dims, f, speed, r, dt, steps);
  if (e.surface) exact = difference(exact, green_trace(dims, f, speed, far, dt, steps));
  return agreement(trace, exact);
}

/// verification.md's setting at 10 points per wavelength (h) and at h/2: under 1 %, and the amplitude within
/// 2 % (A20).
void check_setting(const Experiment& e) {
  for (const double h : {wavelength / 10, wavelength / 20}) {
    const Agreement found = run(e, h);
    CAPTURE(h);
    CHECK(found.error < 0.01);
    CHECK(std::fabs(found.amplitude) < 0.02);
    MESSAGE(fmt::format("h = {} m: error {:.3f} %, amplitude {:+.3f} %", h, 100 * found.error,
                        100 * found.amplitude));
  }
}

}  // namespace

TEST_CASE("A20: 2-D, on the grid, 5 wavelengths: the Green's function within 1 % at h and h/2") {
  check_setting({{100, 100}, {400, 500}, {500, 600}});
}

TEST_CASE("A20: 2-D, off the grid: the Green's function within 1 % at h and h/2") {
  check_setting({{103.3, 101.7}, {396.2, 488.9}, {500, 600}});
}

TEST_CASE("A20: 3-D, on the grid: the Green's function within 1 % at h and h/2") {
  check_setting({{50, 50, 50}, {50, 150, 250}, {100, 200, 300}});
}

TEST_CASE("A20: 3-D, off the grid: the Green's function within 1 % at h and h/2") {
  check_setting({{53.3, 51.7, 48.1}, {61.2, 147.7, 243.4}, {100, 200, 300}});
}

TEST_CASE("analytic: 3-D, 5 wavelengths along the diagonal of a coordinate plane, on and off the grid") {
  for (const double shift : {0.0, 3.7}) {
    check_setting({{50 + shift, 50, 50 - shift}, {50, 350 + shift, 450 - shift}, {100, 400, 500}});
  }
}

TEST_CASE("analytic: 2-D under a free surface: the image source's term subtracted, within 1 % at h and h/2") {
  check_setting({{150, 100}, {200, 400}, {300, 500}, true});
  check_setting({{152.3, 104.1}, {197.7, 398.6}, {300, 500}, true});
}

TEST_CASE("analytic: 3-D under a free surface: the image source's term subtracted, within 1 %") {
  check_setting({{100, 50, 50}, {80, 50, 250}, {150, 100, 300}, true});
}

TEST_CASE("analytic: linear interpolation loses what its weights lose, and a quarter of it at h/2") {
  // Per axis and point, at fraction a between nodes, the two weights pass 1 - a(1-a)(kh)^2/2 of a wavenumber
  // k along the axis. Here all of it lies along x and a = 1/2 at both ends: (kh)^2/8 each, 9.9 % in all at
  // the peak's 10 points per wavelength, more above the peak, where much of a Ricker's energy is; 1.5 bounds
  // that.
  const Experiment e{{100, 105}, {100, 305}, {200, 400}, false, Interpolation::linear};
  const double kh = 2 * std::numbers::pi / 10;
  const Agreement at_h = run(e, 10);
  // 105 and 305 m are nodes of the grid of 5 m: a quarter cell would not be comparable, so the points move by
  // the same half cell.
  const Experiment half{{100, 102.5}, {100, 302.5}, {200, 400}, false, Interpolation::linear};
  const Agreement at_half = run(half, 5);
  CHECK(at_h.error < 1.5 * kh * kh / 4);
  CHECK(at_h.error / at_half.error > 3.5);
  CHECK(at_h.error / at_half.error < 4.5);
  MESSAGE(fmt::format("error {:.2f} % at h, {:.2f} % at h/2", 100 * at_h.error, 100 * at_half.error));
}

TEST_CASE("reference point: 2-D, 48 cells, 25 Hz, the errors of orders 2, 4, 6 and 8") {
  constexpr double c = 1500, h = 5, peak = 25, t0 = 0.1, dt = 1e-4;
  constexpr int steps = 4000;
  // Nothing comes back within 0.4 s, 120 cells.
  const Grid g = grid({125, 133}, h);
  Shot shot;
  shot.sources.push_back(source({62 * h, 42 * h}, ricker_wavelet(peak, t0, dt, steps)));
  shot.receivers.push_back(receiver({62 * h, 90 * h}));
  const auto exact = green_trace(2, [](double t) { return ricker(peak, t - t0); }, c, 48 * h, dt, steps);
  const std::vector<std::pair<int, double>> known = {{2, 0.4971}, {4, 0.0468}, {6, 0.00659}, {8, 0.00117}};
  for (const auto& [order, expected] : known) {
    const double error = relative_l2(acoustic_traces(g, options(dt, steps, order), {c}, shot)[0], exact);
    CAPTURE(order);
    CHECK(std::fabs(error / expected - 1) < 0.05);
    MESSAGE(fmt::format("order {}: {:.5f}, stated {}", order, error, expected));
  }
}

TEST_CASE("analytic: the exact 2-D trace of data/reference within 1 %, by the formula and by the product") {
  const auto path = data_path("reference/acoustic2d_hankel_5hz_500m.npy");
  if (!path) ONDULA_SKIP("no data/reference/acoustic2d_hankel_5hz_500m.npy under ONDULA_DATA");
  const std::vector<double> exact = io::read_npy(*path).data;
  REQUIRE(exact.size() == 2001);
  // The file's unit of length is the kilometre; here it is called a metre, with h = 0.025.
  constexpr double c = 1.5, r = 0.5, h = 0.025, peak = 5, t0 = 0.2995, dt = 5e-4;
  constexpr int steps = 2001;
  const auto formula = green_trace(2, [](double t) { return ricker(peak, t - t0); }, c, r, dt, steps);
  CHECK(relative_l2(formula, exact) < 1e-5);
  Shot shot;
  shot.sources.push_back(source({30 * h, 30 * h}, ricker_wavelet(peak, t0, dt, steps)));
  shot.receivers.push_back(receiver({30 * h, 50 * h}));
  const auto trace = acoustic_traces(grid({61, 81}, h), options(dt, steps, 8), {c}, shot)[0];
  const double error = relative_l2(trace, exact);
  CHECK(error < 0.01);
  CHECK(std::fabs(max_abs(trace) / max_abs(exact) - 1) < 0.01);
  MESSAGE(fmt::format("formula {:.2e}, product {:.3f} %", relative_l2(formula, exact), 100 * error));
}
