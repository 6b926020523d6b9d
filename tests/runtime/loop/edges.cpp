// Calls at the edge of what makes sense: each defined, or refused with a message that helps.
// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>

#include "tests/support/compare.hpp"
#include "tests/support/messages.hpp"
#include "tests/verification/setup.hpp"

using namespace ondula;
using namespace ondula::test;

namespace {

constexpr double dt = 1e-3;

Grid small_grid() { return grid({24, 30}, 10, {FaceKind::absorbing, 6}); }

Propagator propagator(std::int64_t steps, Backend backend = Backend::host, DType dtype = DType::float64) {
  PropagatorOptions o = options(dt, steps, 8);
  o.backend = backend;
  o.dtype = dtype;
  Propagator result(equations::acoustic(), small_grid(), o);
  result.set_model("vp", 2000);
  return result;
}

Shot shot_with(const std::vector<double>& wavelet) {
  Shot shot;
  shot.sources.push_back(source({100, 150}, wavelet));
  shot.receivers.push_back(receiver({120, 130}));
  return shot;
}

/// The layer's frequency is given: left out, it follows the whole wavelet's spectrum.
std::vector<double> trace(const Shot& shot, std::int64_t steps) {
  PropagatorOptions o = options(dt, steps, 8);
  o.absorb.frequency = 20;
  Propagator p(equations::acoustic(), small_grid(), o);
  p.set_model("vp", 2000);
  return p.forward({&shot, 1})[0].at("u").data;
}

constexpr std::array<Backend, 2> backends = {Backend::host, Backend::reference};

}  // namespace

TEST_CASE("A25: a negative, zero, infinite or missing velocity and a negative dt are refused") {
  Propagator p = propagator(10);
  for (const double wrong : {-2000.0, 0.0, std::nan(""), std::numeric_limits<double>::infinity()}) {
    std::vector<double> vp(24 * 30, 2000.0);
    vp[17 * 30 + 4] = wrong;
    const std::string message = message_of<UserError>([&] { p.set_model("vp", vp); });
    CHECK(holds(message, "z 17, x 4"));
    CHECK(holds(message, "positive"));
    CHECK(!message_of<UserError>([&] { p.set_model("vp", wrong); }).empty());
  }
  const Shot shot = shot_with({1.0});
  CHECK_NOTHROW(p.forward({&shot, 1}));  // the model it had
  const auto make = [&] { Propagator(equations::acoustic(), small_grid(), options(-dt, 10, 8)); };
  CHECK(holds(message_of<UserError>(make), "dt = -0.001"));
  Propagator without(equations::acoustic(), small_grid(), options(dt, 10, 8));
  CHECK(holds(message_of<UserError>([&] { without.forward({&shot, 1}); }), "vp"));
}

TEST_CASE(
    "E5: a wavelet shorter than the run is zero after its end, a longer one is cut, with no other effect") {
  const auto whole = ricker_wavelet(20, 0.075, dt, 300);
  const std::vector<double> short_one(whole.begin(), whole.begin() + 90);
  auto padded = short_one;
  padded.resize(200, 0.0);
  const std::vector<double> equal(whole.begin(), whole.begin() + 200);
  CHECK(max_abs_diff(trace(shot_with(short_one), 200), trace(shot_with(padded), 200)) == 0);
  CHECK(max_abs_diff(trace(shot_with(whole), 200), trace(shot_with(equal), 200)) == 0);
  // The last sample reaches no record.
  auto changed = equal;
  changed.back() = 1e6;
  CHECK(max_abs_diff(trace(shot_with(changed), 200), trace(shot_with(equal), 200)) == 0);
  CHECK(max_abs(trace(shot_with(equal), 200)) > 0);
  // Nothing before the run's end: zeros.
  std::vector<double> late(300, 0.0);
  late[250] = 1;
  CHECK(max_abs(trace(shot_with(late), 200)) == 0);
  CHECK(max_abs(trace(shot_with({}), 200)) == 0);
}

TEST_CASE(
    "E6: no shots, no sources and no receivers are runs; dt of 0 or less and negative steps are refused") {
  for (const Backend backend : backends) {
    Propagator p = propagator(20, backend);
    CHECK(p.forward({}).empty());
    Shot silent = shot_with({1.0});
    silent.sources.clear();
    const Records records = p.forward({&silent, 1});
    CHECK(records[0].at("u").samples == 20);
    CHECK(max_abs(records[0].at("u").data) == 0);
    const Shot nothing;
    CHECK(p.forward({&nothing, 1}).size() == 1);
    CHECK(p.state().at("u").size() == 24 * 30);
  }
  CHECK(holds(message_of<UserError>([] { propagator(-1); }), "steps"));
  for (const double wrong : {0.0, -dt}) {
    const auto make = [&] { Propagator(equations::acoustic(), small_grid(), options(wrong, 10, 8)); };
    CHECK(holds(message_of<UserError>(make), "must be positive"));
  }
}

TEST_CASE("E7: a shot without receivers completes on every backend and leaves the same field as with them") {
  const Shot with = shot_with(ricker_wavelet(20, 0.03, dt, 60));
  Shot without = with;
  without.receivers.clear();
  for (const Backend backend : backends) {
    Propagator p = propagator(60, backend), q = propagator(60, backend);
    CHECK(p.forward({&without, 1})[0].empty());
    q.forward({&with, 1});
    CHECK(max_abs(p.state().at("u")) > 0);
    CHECK(max_abs_diff(p.state().at("u"), q.state().at("u")) == 0);
  }
}

TEST_CASE("E13: 0, 1 and 2 steps give records of that length, which a longer run begins with") {
  Shot shot;
  shot.sources.push_back(source({100, 150}, {3.0, 2.0, 1.0}));
  shot.receivers.push_back(receiver({100, 150}));
  for (const Backend backend : backends) {
    const auto run = [&](std::int64_t steps) {
      Propagator p = propagator(steps, backend);
      std::vector<double> initial(24 * 30, 0.0);
      initial[10 * 30 + 15] = 0.5;
      p.set_initial("u", initial);
      const Traces traces = p.forward({&shot, 1})[0].at("u");
      CHECK(traces.receivers == 1);
      CHECK(traces.samples == steps);
      CHECK(p.state().at("u").size() == 24 * 30);
      if (steps == 0) CHECK(max_abs_diff(p.state().at("u"), initial) == 0);
      return traces.data;
    };
    CHECK(run(0).empty());
    const auto longest = run(3);
    CHECK(longest[0] == 0.5);  // sample 0 is the initial state
    for (const std::int64_t steps : {1, 2}) {
      CHECK(max_abs_diff(run(steps), std::span(longest).first(static_cast<std::size_t>(steps))) == 0);
    }
  }
}

TEST_CASE("E13: two runs of half the steps, the state handed over, equal one where there is no layer") {
  const Grid g = grid({24, 30}, 10, free_surface);
  const auto wavelet = ricker_wavelet(20, 0.03, dt, 50);
  Shot first;
  first.sources.push_back(source({100, 150}, wavelet));
  first.receivers.push_back(receiver({120, 130}));
  Shot second = first;
  second.sources.clear();
  Propagator whole(equations::acoustic(), g, options(dt, 100, 8));
  Propagator half(equations::acoustic(), g, options(dt, 50, 8));
  whole.set_model("vp", 2000);
  half.set_model("vp", 2000);
  const auto expected = whole.forward({&first, 1})[0].at("u").data;
  auto found = half.forward({&first, 1})[0].at("u").data;
  for (const auto& [name, values] : half.state().fields()) half.set_initial(name, values);
  const auto rest = half.forward({&second, 1})[0].at("u").data;
  found.insert(found.end(), rest.begin(), rest.end());
  CHECK(max_abs_diff(found, expected) == 0);
  CHECK(max_abs_diff(half.state().at("u"), whole.state().at("u")) == 0);
}

TEST_CASE(
    "E14: a field that overflows stops the run within 100 steps with a RuntimeError, and the next call "
    "works") {
  for (const Backend backend : backends) {
    Propagator p = propagator(2000, backend, DType::float32);
    std::int64_t last = 0;
    p.on_step(1, [&](const StepView& view) { last = view.step; });
    auto wavelet = ricker_wavelet(20, 0.075, dt, 400);
    for (double& v : wavelet) v *= 1e38;
    Shot shot = shot_with(wavelet);
    const std::string message = message_of<RuntimeError>([&] { p.forward({&shot, 1}); });
    CHECK(holds(message, "step"));
    CHECK(last < 100);  // the wavelet itself starts at 1e30
    p.on_step(0, {});
    shot = shot_with(ricker_wavelet(20, 0.075, dt, 400));
    CHECK(std::isfinite(max_abs(p.forward({&shot, 1})[0].at("u").data)));
  }
}

TEST_CASE("E14: a wavelet or an initial state that is not finite is refused with its place") {
  Propagator p = propagator(10);
  const Shot shot = shot_with({0.0, std::nan(""), 1.0});
  CHECK(holds(message_of<UserError>([&] { p.forward({&shot, 1}); }), "source 0 of shot 0"));
  std::vector<double> initial(24 * 30, 0.0);
  initial[77] = std::numeric_limits<double>::infinity();
  CHECK(holds(message_of<UserError>([&] { p.set_initial("u", initial); }), "77"));
}
