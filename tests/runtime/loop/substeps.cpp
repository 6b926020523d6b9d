// Substeps: the wavelet between its samples, records at every r-th step, limits.
// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "runtime/substeps.hpp"
#include "tests/support/compare.hpp"
#include "tests/support/environment.hpp"
#include "tests/support/messages.hpp"
#include "tests/verification/setup.hpp"

using namespace ondula;
using namespace ondula::test;

namespace {

constexpr double speed = 2000;

Shot centred(const Grid& g, const std::vector<double>& wavelet) {
  std::vector<double> centre, corner;
  for (const std::int64_t n : g.shape) {
    centre.push_back(10.0 * static_cast<double>(n / 2));
    corner.push_back(20.0);
  }
  Shot shot;
  shot.sources.push_back(source(centre, wavelet));
  shot.receivers.push_back(receiver(corner));
  return shot;
}

std::vector<double> run(const Grid& g, double dt, std::int64_t steps, std::optional<int> substeps,
                        const std::vector<double>& wavelet, int order = 4) {
  PropagatorOptions o = options(dt, steps, order);
  o.substeps = substeps;
  Propagator p(equations::acoustic(), g, o);
  p.set_model("vp", speed);
  const Shot shot = centred(g, wavelet);
  return p.forward({&shot, 1})[0].at("u").data;
}

}  // namespace

TEST_CASE("Between samples a wavelet of 15 to 25 Hz at 4 ms is right to some 1e-5") {
  for (const double f : {15.0, 25.0}) {
    const auto coarse = ricker_wavelet(f, 0.2, 0.004, 150);
    for (const int r : {2, 5, 16}) {
      const auto fine = fine_wavelet(coarse, r, 0, 150 * r);
      const auto exact = ricker_wavelet(f, 0.2, 0.004 / r, 150 * r);
      CHECK(max_abs_diff(std::span(fine).first(100 * static_cast<std::size_t>(r)),
                         std::span(exact).first(100 * static_cast<std::size_t>(r))) < 3e-5);
    }
    const auto middle = fine_wavelet(coarse, 1, 0.5, 100);
    for (std::size_t n = 0; n < 100; ++n)
      CHECK(std::fabs(middle[n] - ricker(f, (static_cast<double>(n) + 0.5) * 0.004 - 0.2)) < 3e-5);
  }
  const std::vector<double> odd = {1, -2, 3};
  CHECK(fine_wavelet(odd, 1, 0, 2) == std::vector<double>{1, -2});
  CHECK(fine_wavelet(odd, 1, 0, 9) == odd);
  CHECK(substep_kernel(0) == 1);
  CHECK(substep_kernel(16) == 0);
}

TEST_CASE(
    "A1: substepped, 11^n cells, orders 2 to 16: dt at 1.05 and 3.3 of the limit stays bounded for 20 s") {
  for (int dims = 1; dims <= 3; ++dims) {
    const double seconds = dims < 3 || full_matrices() ? 20 : 4;
    for (const int order : {2, 4, 8, 16}) {
      CAPTURE(dims);
      CAPTURE(order);
      const Grid g = grid(std::vector<std::int64_t>(static_cast<std::size_t>(dims), 11), 10);
      const double limit = acoustic_limit(order, dims, 10, speed);
      for (const double share : {1.05, 3.3}) {
        const double dt = share * limit;
        const auto steps = static_cast<std::int64_t>(seconds / dt);
        const auto trace = run(g, dt, steps, std::nullopt, ricker_wavelet(0.05 / dt, 30 * dt, dt, 60), order);
        const auto tail = std::span(trace).last(trace.size() / 4),
                   head = std::span(trace).first(trace.size() / 4);
        CHECK(max_abs(head) > 0);
        CHECK(max_abs(tail) <= 2 * max_abs(head));
      }
    }
  }
}

TEST_CASE("Records of substeps are every r-th sample of the run with the small step") {
  const Grid g = grid({31, 33}, 10, {FaceKind::absorbing, 8});
  constexpr double dt = 2e-3;
  constexpr int r = 4;
  const auto coarse = run(g, dt, 100, r, ricker_wavelet(20, 0.08, dt, 100));
  const auto fine = run(g, dt / r, 100 * r, 1, ricker_wavelet(20, 0.08, dt / r, 100 * r));
  std::vector<double> every;
  for (std::size_t k = 0; k < 100; ++k) every.push_back(fine[k * r]);
  CHECK(max_abs_diff(coarse, every) < 5e-5 * max_abs(every));
}

TEST_CASE("E5: with substeps, wavelets shorter and longer than the run and E13: 0, 1 and 2 samples") {
  const Grid g = grid({21, 21}, 10);
  auto wavelet = ricker_wavelet(25, 0.05, 1e-3, 60);
  const auto usual = run(g, 1e-3, 80, 3, wavelet);
  CHECK(max_abs(usual) > 0);
  auto longer = wavelet;
  longer.resize(500, 0.0);
  CHECK(max_abs_diff(run(g, 1e-3, 80, 3, longer), usual) < 1e-15 * max_abs(usual));
  const auto first = run(g, 1e-3, 40, 3, wavelet);
  CHECK(max_abs_diff(first, std::span(usual).first(40)) == 0);
  for (const std::int64_t steps : {0, 1, 2})
    CHECK(run(g, 1e-3, steps, 3, wavelet).size() == static_cast<std::size_t>(steps));
}

TEST_CASE("E13: steps, callbacks and progress count samples, whatever the substeps") {
  const Grid g = grid({21, 21}, 10);
  PropagatorOptions o = options(1e-3, 25, 4);
  o.substeps = 3;
  std::int64_t last = 0;
  o.progress = [&](const Progress& p) { last = p.step; };
  Propagator p(equations::acoustic(), g, o);
  p.set_model("vp", speed);
  std::vector<double> times;
  p.on_step(10, [&](const StepView& view) { times.push_back(view.time); });
  const Shot shot = centred(g, ricker_wavelet(25, 0.05, 1e-3, 25));
  p.forward({&shot, 1});
  CHECK(last == 25);
  CHECK(times == std::vector<double>{0, 10e-3, 20e-3});
  CHECK(p.timings().steps == 24 * 3);
}

TEST_CASE(
    "More than 16 substeps are refused, and a number given is kept to; r stays as the first call fixed it") {
  const Grid g = grid({21, 21}, 10);
  const double limit = acoustic_limit(4, 2, 10, speed);
  const auto wavelet = ricker_wavelet(1 / (40 * limit), 60 * limit, limit, 50);
  CHECK_THROWS_AS(run(g, 15.3 * limit, 10, std::nullopt, wavelet), UserError);
  CHECK_NOTHROW(run(g, 15.1 * limit, 10, std::nullopt, wavelet));
  CHECK_THROWS_AS(run(g, 2.05 * limit, 10, 2, wavelet), UserError);
  CHECK_NOTHROW(run(g, 1.99 * limit, 10, 2, wavelet));
  PropagatorOptions o = options(1.5 * limit, 10, 4);
  o.substeps.reset();
  Propagator p(equations::acoustic(), g, o);
  p.set_model("vp", speed);
  const Shot shot = centred(g, wavelet);
  p.forward({&shot, 1});
  CHECK(p.estimate({&shot, 1}).substeps == 2);
  p.set_model("vp", speed / 2);
  p.forward({&shot, 1});
  CHECK(p.estimate({&shot, 1}).substeps == 2);
  p.set_model("vp", 1.4 * speed);
  CHECK_THROWS_AS(p.forward({&shot, 1}), UserError);
}

TEST_CASE(
    "B14, E14: elastic: a cell at 1e6 m/s is refused with substeps and bytes, bad values with their index") {
  const Grid g = grid({21, 25}, 10, {FaceKind::absorbing, 5});
  Propagator p(equations::elastic(), g, options(1e-3, 10, 4));
  std::vector<double> vp(21 * 25, 3000.0);
  vp[12 * 25 + 7] = 1e6;
  p.set_model("vp", vp);
  p.set_model("vs", 1000.0);
  p.set_model("rho", 2000.0);
  const Shot silent;
  const std::string message = refusal([&] { p.forward({&silent, 1}); });
  CAPTURE(message);
  for (const char* part : {"1e+06 m/s", "z 12, x 7", "substeps", "MB"})
    CHECK(message.find(part) != std::string::npos);
  CHECK(p.device_bytes_peak() == 0);
  CHECK_THROWS_AS(p.set_model("vs", -1.0), UserError);
  CHECK_NOTHROW(p.set_model("vs", 0.0));
  for (const double bad : std::vector<double>{NAN, HUGE_VAL, 0.0, -5.0})
    CHECK_THROWS_AS(p.set_model("rho", bad), UserError);
}
