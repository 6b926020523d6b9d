// Wavelets by formula, their spectra, and the warnings they give.
// SPDX-License-Identifier: MIT
#include "runtime/io/wavelet.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "tests/runtime/io/job_text.hpp"
#include "tests/support/messages.hpp"

using namespace ondula::io;
using ondula::test::check_mentions;

namespace {

WaveletSpec wavelet(WaveletKind kind, double frequency) {
  WaveletSpec spec;
  spec.kind = kind;
  spec.frequency = frequency;
  spec.corners = {2, 6, 20, 40};
  spec.delay = default_delay(spec);
  return spec;
}

const std::vector<WaveletKind> formulas = {WaveletKind::ricker, WaveletKind::gabor, WaveletKind::ormsby,
                                           WaveletKind::gaussian};

std::string joined(const std::vector<std::string>& texts) {
  std::string all;
  for (const std::string& text : texts) all += text + "\n";
  return all;
}

}  // namespace

TEST_CASE("the Ricker wavelet has its closed form's values") {
  const WaveletSpec spec = wavelet(WaveletKind::ricker, 10);
  CHECK(spec.delay == doctest::Approx(0.15));
  CHECK(wavelet_value(spec, 0.15) == 1);
  const double zero = 1 / (std::numbers::pi * 10 * std::sqrt(2.0));
  CHECK(std::abs(wavelet_value(spec, 0.15 + zero)) < 1e-12);
  const double trough = std::sqrt(1.5) / (std::numbers::pi * 10);
  CHECK(wavelet_value(spec, 0.15 - trough) == doctest::Approx(-2 * std::exp(-1.5)).epsilon(1e-12));
}

TEST_CASE("the second derivative of a Gaussian is the Ricker wavelet") {
  WaveletSpec gaussian = wavelet(WaveletKind::gaussian, 7);
  gaussian.derivative = 2;
  const WaveletSpec ricker = wavelet(WaveletKind::ricker, 7);
  for (double t = 0; t < 0.5; t += 0.0123)
    CHECK(wavelet_value(gaussian, t) == doctest::Approx(wavelet_value(ricker, t)).epsilon(1e-9));
}

TEST_CASE("each derivative of a Gaussian peaks at 1 and its spectrum at its frequency") {
  for (int order = 1; order <= 8; ++order) {
    CAPTURE(order);
    WaveletSpec spec = wavelet(WaveletKind::gaussian, 12);
    spec.derivative = order;
    spec.delay = default_delay(spec);
    const WaveletFacts facts = wavelet_facts(spec, 0, 0.001);
    CHECK(facts.peak == doctest::Approx(1).epsilon(1e-4));
    CHECK(facts.dominant_frequency == doctest::Approx(12).epsilon(0.002));
    // Each is the derivative of the one before: the sum of a wavelet's samples is zero.
    double sum = 0;
    for (const double value : sample_wavelet(spec, 0, 0.001, 1000)) sum += value;
    CHECK(std::abs(sum) < 1e-3);
  }
}

TEST_CASE("the Gabor wavelet follows its formula, phase included") {
  WaveletSpec spec = wavelet(WaveletKind::gabor, 10);
  CHECK(spec.delay == doctest::Approx(0.2));
  CHECK(wavelet_value(spec, 0.2) == 1);
  CHECK(wavelet_value(spec, 0.3) == doctest::Approx(std::exp(-std::pow(2 * std::numbers::pi / 4, 2))));
  spec.phase = 90;
  CHECK(std::abs(wavelet_value(spec, 0.2)) < 1e-12);
  CHECK(wavelet_value(spec, 0.225) < 0);
}

TEST_CASE("the Ormsby wavelet's spectrum is its trapezoid") {
  WaveletSpec spec = wavelet(WaveletKind::ormsby, 0);
  spec.delay = 4;
  CHECK(wavelet_value(spec, 4) == doctest::Approx(1));
  const double dt = 0.002;
  const std::vector<double> spectrum = amplitude_spectrum(sample_wavelet(spec, 0, dt, 4001), 1);
  const double bin = 1 / (2 * static_cast<double>(spectrum.size() - 1) * dt);
  const auto at = [&](double frequency) {
    return spectrum[static_cast<std::size_t>(std::lround(frequency / bin))];
  };
  const double flat = at(13);
  CHECK(at(8) / flat == doctest::Approx(1).epsilon(0.01));
  CHECK(at(18) / flat == doctest::Approx(1).epsilon(0.01));
  CHECK(at(4) / flat == doctest::Approx(0.5).epsilon(0.02));
  CHECK(at(30) / flat == doctest::Approx(0.5).epsilon(0.02));
  CHECK(at(1) / flat < 0.01);
  CHECK(at(50) / flat < 0.01);
}

TEST_CASE("with its default delay no wavelet starts over 1 % of its peak") {
  for (const WaveletKind kind : formulas) {
    for (int order = 1; order <= (kind == WaveletKind::gaussian ? 8 : 1); ++order) {
      WaveletSpec spec = wavelet(kind, 10);
      spec.derivative = order;
      spec.delay = default_delay(spec);
      CHECK(wavelet_facts(spec, 0, 0.001).cut_ratio < 0.01);
      CHECK(std::abs(wavelet_value(spec, 0)) < 0.01);
    }
  }
}

TEST_CASE("the spectrum is that of the discrete Fourier sum") {
  const std::vector<double> series = {1, -2, 0.5, 3, 0, 0, 1, 2};
  const std::vector<double> spectrum = amplitude_spectrum(series, 1);
  REQUIRE(spectrum.size() == 5);
  for (std::size_t k = 0; k < spectrum.size(); ++k) {
    double real = 0, imaginary = 0;
    for (std::size_t n = 0; n < series.size(); ++n) {
      const double angle = 2 * std::numbers::pi * static_cast<double>(k * n) / 8;
      real += series[n] * std::cos(angle);
      imaginary -= series[n] * std::sin(angle);
    }
    CHECK(spectrum[k] == doctest::Approx(std::hypot(real, imaginary)).epsilon(1e-12));
  }
}

TEST_CASE("facts of a Ricker wavelet: peak, onset, and where its spectrum ends") {
  const WaveletFacts facts = wavelet_facts(wavelet(WaveletKind::ricker, 20), 0, 0.001);
  CHECK(facts.peak_time == doctest::Approx(0.075).epsilon(0.01));
  CHECK(facts.onset_time > 0.01);
  CHECK(facts.onset_time < 0.05);
  // x² exp(−x²) falls to 1 % of its peak at x = 2.7605.
  CHECK(facts.top_frequency == doctest::Approx(20 * 2.7605).epsilon(0.002));
  CHECK(facts.high_energy < 1e-9);
}

TEST_CASE("samples give the same facts as their formula") {
  const WaveletSpec spec = wavelet(WaveletKind::ricker, 20);
  const WaveletFacts formula = wavelet_facts(spec, 0, 0.001);
  const WaveletFacts samples = series_facts(sample_wavelet(spec, 0, 0.001, 400), 0, 0.001);
  CHECK(samples.peak_time == doctest::Approx(formula.peak_time).epsilon(0.01));
  CHECK(samples.dominant_frequency == doctest::Approx(formula.dominant_frequency).epsilon(0.002));
  CHECK(samples.top_frequency == doctest::Approx(formula.top_frequency).epsilon(0.002));
  CHECK(samples.onset_time == doctest::Approx(formula.onset_time).epsilon(0.05));
}

TEST_CASE("a wavelet cut off at its first sample is warned of, however far back its centre lies") {
  WaveletSpec spec = wavelet(WaveletKind::ricker, 20);
  spec.delay = 0.01;
  check_mentions(joined(wavelet_warnings(wavelet_facts(spec, 0, 0.001), "wavelet", 0, 0.001, 500)),
                 {"wavelet: the wavelet starts at ", "% of its peak"});
  spec.delay = -5;
  CHECK(wavelet_facts(spec, 0, 0.001).cut_ratio == 1);
  CHECK(wavelet_facts(spec, -6, 0.001).cut_ratio < 0.01);
}

TEST_CASE("a wavelet that is over before t0 is warned of as silent, and not as a jump") {
  for (const WaveletKind kind : formulas) {
    const WaveletSpec spec = wavelet(kind, 20);
    const WaveletFacts facts = wavelet_facts(spec, 0, 0.001);
    CHECK(facts.end_time > facts.peak_time);
    const double after = facts.end_time + 0.01;
    const auto warnings = wavelet_warnings(wavelet_facts(spec, after, 0.001), "wavelet", after, 0.001, 500);
    REQUIRE(warnings.size() == 1);
    check_mentions(warnings[0], {"wavelet: the wavelet, at its peak at ", "ended before t0", "stays silent"});
    const double amid = facts.peak_time + 0.001;
    check_mentions(joined(wavelet_warnings(wavelet_facts(spec, amid, 0.001), "wavelet", amid, 0.001, 500)),
                   {"the wavelet starts at 100 % of its peak"});
  }
}

TEST_CASE("energy above 0.8 of the Nyquist frequency is warned of") {
  std::vector<double> spike(100, 0.0);
  spike[50] = 1;
  const WaveletFacts facts = series_facts(spike, 0, 0.001);
  CHECK(facts.high_energy == doctest::Approx(0.2).epsilon(0.05));
  check_mentions(joined(wavelet_warnings(facts, "wavelet", 0, 0.001, 500)),
                 {"20 %", "0.8 of the Nyquist frequency 500 Hz"});
  CHECK(wavelet_warnings(wavelet_facts(wavelet(WaveletKind::ricker, 20), 0, 0.001), "wavelet", 0, 0.001, 500)
            .empty());
}

TEST_CASE("A19: too few points per wavelength give the figure and the spacing that would do") {
  const auto text = sampling_warning(1500, 50, {5, 10});
  REQUIRE(text.has_value());
  check_mentions(*text, {"3.00 points per wavelength", "1500 m/s", "50 Hz", "spacing of 10 m",
                         "a spacing of 6 m or less"});
  CHECK_FALSE(sampling_warning(1500, 50, {6, 6}).has_value());
  std::vector<double> spike(100, 0.0);
  spike[50] = 1;
  CHECK(series_facts(spike, 0, 0.001).top_frequency == doctest::Approx(500));
}

TEST_CASE("a silent wavelet has no facts, and is warned of") {
  const WaveletFacts facts = series_facts({0, 0, 0}, 0, 0.001);
  CHECK(facts.peak == 0);
  CHECK(facts.top_frequency == 0);
  check_mentions(joined(wavelet_warnings(facts, "wavelet", 0, 0.001, 10)), {"zero everywhere"});
}
