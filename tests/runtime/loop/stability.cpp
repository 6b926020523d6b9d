// The stability limit: kept, it holds; passed, the call is refused and the object stays usable.
// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <string>

#include "tests/support/compare.hpp"
#include "tests/support/messages.hpp"
#include "tests/verification/setup.hpp"

using namespace ondula;
using namespace ondula::test;

namespace {

Shot centred(const Grid& g, double dt) {
  std::vector<double> centre, corner;
  for (const std::int64_t n : g.shape) {
    centre.push_back(10.0 * static_cast<double>(n / 2));
    corner.push_back(20.0);
  }
  Shot shot;
  shot.sources.push_back(source(centre, ricker_wavelet(0.1 / dt, 15 * dt, dt, 30)));
  shot.receivers.push_back(receiver(corner));
  return shot;
}

constexpr double speed = 2000;

}  // namespace

TEST_CASE("A1: 11^n cells, 20 s at 0.99 of the limit: bounded; at 1.05: refused with limit and dt") {
  for (int dims = 1; dims <= 3; ++dims) {
    for (const int order : {2, 4, 8, 16}) {
      CAPTURE(dims);
      CAPTURE(order);
      const double limit = acoustic_limit(order, dims, 10, speed);
      const double dt = 0.99 * limit;
      const auto steps = static_cast<std::int64_t>(20 / dt);
      // Closed (nothing hides growth by leaving), and in layers.
      for (const Face face : {rigid, Face{FaceKind::absorbing, 3}}) {
        const Grid g = grid(std::vector<std::int64_t>(static_cast<std::size_t>(dims), 11), 10, face);
        Propagator propagator(equations::acoustic(), g, options(dt, steps, order));
        propagator.set_model("vp", speed);
        const Shot shot = centred(g, dt);
        const auto trace = propagator.forward({&shot, 1})[0].at("u").data;
        const auto tail = std::span(trace).last(trace.size() / 4);
        const auto head = std::span(trace).first(trace.size() / 4);
        CHECK(max_abs(head) > 0);
        CHECK(max_abs(tail) <= 2 * max_abs(head));
      }
      const Grid g = grid(std::vector<std::int64_t>(static_cast<std::size_t>(dims), 11), 10);
      Propagator over(equations::acoustic(), g, options(1.05 * limit, 100, order));
      over.set_model("vp", speed);
      const Shot shot = centred(g, dt);
      const std::string message = refusal([&] { over.forward({&shot, 1}); });
      CHECK(holds(message, fmt::format("{:.6g}", limit)));
      CHECK(holds(message, fmt::format("{:.6g}", 1.05 * limit)));
      Propagator at(equations::acoustic(), g, options(limit, 10, order));
      at.set_model("vp", speed);
      CHECK_NOTHROW(at.forward({&shot, 1}));
    }
  }
}

TEST_CASE("A1: automatic steps keep 0.95 of the limit, with substeps where dt passes it") {
  const Grid g = grid({21, 21}, 10);
  const double limit = acoustic_limit(8, 2, 10, speed);
  for (const double share : {0.949, 0.96}) {
    PropagatorOptions o = options(share * limit, 10, 8);
    o.substeps.reset();
    Propagator propagator(equations::acoustic(), g, o);
    propagator.set_model("vp", speed);
    const Shot shot = centred(g, o.dt);
    CHECK_NOTHROW(propagator.forward({&shot, 1}));
    CHECK(propagator.estimate({&shot, 1}).substeps == (share < 0.95 ? 1 : 2));
  }
}

TEST_CASE(
    "A3: a propagator given a faster model is refused on that call, with value and cell, then works again") {
  const Grid g = grid({21, 25}, 10, {FaceKind::absorbing, 5});
  const double dt = 0.9 * acoustic_limit(8, 2, 10, speed);
  Propagator propagator(equations::acoustic(), g, options(dt, 100, 8));
  propagator.set_model("vp", speed);
  const Shot shot = centred(g, dt);
  const auto before = propagator.forward({&shot, 1})[0].at("u").data;
  std::vector<double> faster(21 * 25, speed);
  faster[13 * 25 + 7] = 2765.5;
  propagator.set_model("vp", faster);
  const std::string message = refusal([&] { propagator.forward({&shot, 1}); });
  CHECK(holds(message, "2765.5"));
  CHECK(holds(message, "z 13, x 7"));
  CHECK(holds(message, fmt::format("{:.6g}", acoustic_limit(8, 2, 10, 2765.5))));
  propagator.set_model("vp", speed);
  CHECK(max_abs_diff(propagator.forward({&shot, 1})[0].at("u").data, before) == 0);
}

TEST_CASE(
    "B14: one cell at 1e6 m/s is refused before any allocation, with the substeps and bytes it would take") {
  const Grid g = grid({31, 41}, 10, {FaceKind::absorbing, 5});
  const double dt = 0.9 * acoustic_limit(8, 2, 10, speed);
  Propagator propagator(equations::acoustic(), g, options(dt, 100, 8));
  std::vector<double> vp(31 * 41, speed);
  vp[12 * 41 + 30] = 1e6;
  propagator.set_model("vp", vp);
  const Shot shot = centred(g, dt);
  const std::string message = refusal([&] { propagator.forward({&shot, 1}); });
  const Estimate estimate = propagator.estimate({&shot, 1});
  CHECK(propagator.device_bytes_peak() == 0);
  CHECK(holds(message, "z 12, x 30"));
  CHECK(holds(message, "1e+06 m/s"));
  const double needed = std::ceil(dt / (0.95 * acoustic_limit(8, 2, 10, 1e6)));
  CHECK(holds(message, fmt::format("{:.0f} substeps", needed)));
  CHECK(holds(message, fmt::format("{:.3g} MB", static_cast<double>(estimate.device_bytes) / 1e6)));
  CHECK(estimate.device_bytes > 51 * 41 * 2 * sizeof(double));
  CHECK(estimate.fastest == doctest::Approx(1e6));
  CHECK(estimate.fastest_cell == std::vector<std::int64_t>{12, 30});
}

TEST_CASE("B14: one cell at 0.1 m/s changes neither bytes nor steps, but the points per wavelength") {
  const Grid g = grid({31, 41}, 10, {FaceKind::absorbing, 5});
  const double dt = 0.9 * acoustic_limit(8, 2, 10, speed);
  std::vector<double> vp(31 * 41, speed);
  vp[0] = 1990;
  const Shot shot = centred(g, dt);
  Propagator propagator(equations::acoustic(), g, options(dt, 20, 8));
  propagator.set_model("vp", vp);
  const Estimate usual = propagator.estimate({&shot, 1});
  vp[12 * 41 + 30] = 0.1;
  propagator.set_model("vp", vp);
  const Estimate slow = propagator.estimate({&shot, 1});
  CHECK(slow.device_bytes == usual.device_bytes);
  CHECK(slow.substeps == usual.substeps);
  CHECK(slow.points_per_wavelength == doctest::Approx(usual.points_per_wavelength * 0.1 / 1990));
  CHECK_NOTHROW(propagator.forward({&shot, 1}));
}
