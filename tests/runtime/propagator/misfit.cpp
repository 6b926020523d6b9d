// Misfits of records: their values by hand, their derivatives against finite differences.
// SPDX-License-Identifier: MIT
#include "runtime/misfit.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <numbers>
#include <random>

#include "compiler/error.hpp"
#include "runtime/trace_filter.hpp"
#include "tests/support/compare.hpp"

namespace ondula::test {
namespace {

constexpr double dt = 0.004;
constexpr std::size_t samples = 90;

std::vector<double> noise(std::size_t count, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<double> normal;
  std::vector<double> values(count);
  for (double& value : values) value = normal(generator);
  return values;
}

double product(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

Shot shot_of_two() {
  Shot shot;
  shot.sources.push_back({.field = "u", .position = {0, 0}, .wavelet = {}});
  shot.receivers.push_back({.field = "u", .position = {0, 30}});
  shot.receivers.push_back({.field = "w", .position = {0, 0}});
  shot.receivers.push_back({.field = "u", .position = {40, 30}});
  return shot;
}

std::map<std::string, Traces> two_traces(unsigned seed, double size = 1) {
  Traces traces{2, samples, noise(2 * samples, seed)};
  for (double& value : traces.data) value *= size;
  return {{"u", traces}};
}

std::vector<MisfitOptions> all_options() {
  std::vector<MisfitOptions> list;
  for (const auto kind : {MisfitKind::l2, MisfitKind::correlation, MisfitKind::envelope}) {
    list.push_back({kind, {}, {}});
    list.push_back({kind, Mute{.before = 0.05, .after = 0.3, .velocity = 500, .taper = 0.04}, {}});
    list.push_back({kind, Mute{.before = {}, .after = {}, .velocity = 400}, {{8, 40}}});
    list.push_back({kind, {}, {{0, 30}}});
  }
  return list;
}

TEST_CASE("Every misfit's derivative is that of its value, mute and band included") {
  const auto observed = two_traces(1);
  const auto modelled = two_traces(2, 0.7);
  const auto direction = noise(2 * samples, 3);
  for (const MisfitOptions& options : all_options()) {
    CAPTURE(static_cast<int>(options.kind));
    CAPTURE(options.mute.has_value());
    CAPTURE(options.band.has_value());
    const auto at = [&](double step) {
      auto moved = modelled;
      for (std::size_t i = 0; i < direction.size(); ++i) moved.at("u").data[i] += step * direction[i];
      return compare_records(moved, observed, shot_of_two(), options, {0, dt, {}});
    };
    const double h = 1e-4;
    const double slope = product(at(0).adjoint.at("u").data, direction);
    CHECK((at(h).value - at(-h).value) / (2 * h) == doctest::Approx(slope).epsilon(1e-6));
    CHECK(at(0).value > 0);
    CHECK(compare_records(observed, observed, shot_of_two(), options, {0, dt, {}}).value ==
          doctest::Approx(0).epsilon(1e-12));
  }
}

TEST_CASE("The least squares misfit is half the sum of squares times dt") {
  const auto observed = two_traces(1), modelled = two_traces(2);
  const Misfit misfit = compare_records(modelled, observed, shot_of_two(), {}, {0, dt, {}});
  double sum = 0;
  for (std::size_t i = 0; i < 2 * samples; ++i) {
    const double difference = modelled.at("u").data[i] - observed.at("u").data[i];
    sum += 0.5 * dt * difference * difference;
    CHECK(misfit.adjoint.at("u").data[i] == doctest::Approx(dt * difference));
  }
  CHECK(misfit.value == doctest::Approx(sum));
}

TEST_CASE("The correlation misfit ignores amplitudes, and counts 2 for a trace turned over") {
  const auto observed = two_traces(1);
  const auto scaled = two_traces(1, 1e-170), turned = two_traces(1, -3);
  const MisfitOptions options{MisfitKind::correlation, {}, {}};
  CHECK(compare_records(scaled, observed, shot_of_two(), options, {0, dt, {}}).value ==
        doctest::Approx(0).epsilon(1e-12));
  CHECK(compare_records(turned, observed, shot_of_two(), options, {0, dt, {}}).value == doctest::Approx(4));
}

TEST_CASE("Silent traces: no misfit is NaN, no derivative is") {
  for (const MisfitOptions& options : all_options()) {
    for (const auto& [ours, theirs] : {std::pair{0.0, 1.0}, std::pair{1.0, 0.0}, std::pair{0.0, 0.0}}) {
      const Misfit misfit =
          compare_records(two_traces(1, ours), two_traces(2, theirs), shot_of_two(), options, {0, dt, {}});
      CHECK(std::isfinite(misfit.value));
      CHECK(std::isfinite(max_abs(misfit.adjoint.at("u").data)));
    }
  }
}

TEST_CASE("The envelope of a burst is its amplitude, whatever its phase") {
  Traces cosine{1, 400, {}}, sine{1, 400, {}};
  for (int k = 0; k < 400; ++k) {
    const double t = (k - 200) * dt, size = std::exp(-t * t / 0.02), w = 2 * std::numbers::pi * 20;
    cosine.data.push_back(size * std::cos(w * t));
    sine.data.push_back(size * std::sin(w * t));
  }
  const TraceFilter filter(400, dt);
  const std::vector<double> turned = filter.hilbert(cosine.data);
  for (std::size_t i = 0; i < 400; ++i) CHECK(std::abs(turned[i] - sine.data[i]) < 1e-9);
  Shot shot;
  shot.receivers.push_back({.field = "u", .position = {0, 0}});
  const MisfitOptions options{MisfitKind::envelope, {}, {}};
  CHECK(compare_records({{"u", cosine}}, {{"u", sine}}, shot, options, {0, dt, {}}).value < 1e-12);
}

TEST_CASE(
    "The band-pass has zero phase, halves at its corners, and is its own transpose; Hilbert's is minus its "
    "own") {
  const std::size_t n = 1000;
  const TraceFilter filter(n, dt);
  for (const auto& [hertz, gain] :
       {std::pair{10.0, 0.5}, std::pair{20.0, 1.0}, std::pair{40.0, 0.5}, std::pair{80.0, 0.0}}) {
    std::vector<double> wave(n);
    for (std::size_t k = 0; k < n; ++k)
      wave[k] = std::cos(2 * std::numbers::pi * hertz * static_cast<double>(k) * dt);
    const std::vector<double> passed = filter.band(wave, 10, 40);
    for (std::size_t k = 400; k < 600; ++k) CHECK(std::abs(passed[k] - gain * wave[k]) < 0.012);
  }
  const auto x = noise(n, 1), y = noise(n, 2);
  const auto bx = filter.band(x, 10, 40), by = filter.band(y, 10, 40);
  CHECK(std::abs(product(bx, y) - product(x, by)) < 1e-13 * std::sqrt(product(bx, bx) * product(y, y)));
  const auto hx = filter.hilbert(x), hy = filter.hilbert(y);
  CHECK(std::abs(product(hx, y) + product(x, hy)) < 1e-13 * std::sqrt(product(hx, hx) * product(y, y)));
}

TEST_CASE("A mute's times follow the offset, its taper lies in the kept part") {
  const Mute mute{.before = 0.1, .after = 0.2, .velocity = 500, .taper = 0.04};
  const std::vector<double> weights =
      mute_weights(mute, shot_of_two(), "u", samples, {-0.02, dt, {{"u", -0.002}}});
  REQUIRE(weights.size() == 2 * samples);
  for (std::size_t trace = 0; trace < 2; ++trace) {
    const double moved = (trace == 0 ? 30 : 50) / 500.0;
    for (std::size_t k = 0; k < samples; ++k) {
      const double t = -0.022 + static_cast<double>(k) * dt - moved;
      const double weight = weights[trace * samples + k];
      CAPTURE(t);
      if (t < 0.1 - 1e-9 || t > 0.2 + 1e-9) CHECK(weight == 0);
      if (t > 0.14 + 1e-9 && t < 0.16 - 1e-9) CHECK(weight == 1);
      if (t > 0.1 + 1e-9 && t < 0.14)
        CHECK(weight == doctest::Approx(std::pow(std::sin((t - 0.1) / 0.04 * std::numbers::pi / 2), 2)));
    }
  }
}

TEST_CASE("Misfits of what does not fit are refused") {
  const auto observed = two_traces(1);
  const auto refused = [&](const std::map<std::string, Traces>& ours, const MisfitOptions& options,
                           const char* text) {
    CHECK_THROWS_WITH_AS(compare_records(ours, observed, shot_of_two(), options, {0, dt, {}}),
                         doctest::Contains(text), UserError);
  };
  refused({}, {}, "no such record is modelled");
  refused({{"u", {2, 80, noise(160, 1)}}}, {}, "2 traces of 90 samples; the modelled record has 2 of 80");
  refused(two_traces(2), {MisfitKind::l2, {}, {{10, 125}}}, "high < 125 Hz");
  refused(two_traces(2), {MisfitKind::l2, {}, {{10, 5}}}, "misfit.band: found [10, 5] Hz");
  refused(two_traces(2), {MisfitKind::l2, Mute{.before = 1.0, .after = 0.5}, {}}, "nothing is kept");
  auto wrong = observed;
  wrong.at("u").data[100] = std::nan("");
  CHECK_THROWS_WITH_AS(compare_records(observed, wrong, shot_of_two(), {}, {0, dt, {}}),
                       doctest::Contains("trace 1, sample 10"), UserError);
  CHECK_THROWS_WITH_AS(misfit_against({}, {shot_of_two()}, {}, {0, dt, {}}),
                       doctest::Contains("0 shots for 1"), UserError);
}

}  // namespace
}  // namespace ondula::test
