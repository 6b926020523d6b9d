// Source wavelets: by formula, from samples, and what their spectrum says about a run.
// SPDX-License-Identifier: MIT
#include "runtime/io/wavelet.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>

#include "compiler/error.hpp"

namespace ondula::io {

namespace {

constexpr double pi = std::numbers::pi;

/// Physicists' Hermite polynomial of degree n: H_{n+1} = 2y H_n − 2n H_{n−1}.
double hermite(int n, double y) {
  double before = 0;
  double now = 1;
  for (int k = 0; k < n; ++k) {
    const double next = 2 * y * now - 2 * k * before;
    before = now;
    now = next;
  }
  return now;
}

/// Largest |H_n(y) exp(−y²)|, which lies in [0, 1] for the degrees used; by a scan and two refinements.
double hermite_peak(int n) {
  const auto value = [n](double y) { return std::abs(hermite(n, y) * std::exp(-y * y)); };
  double low = 0;
  double high = 2;
  double best = 0;
  for (int level = 0; level < 6; ++level) {
    const double step = (high - low) / 64;
    double where = low;
    for (int k = 0; k <= 64; ++k) {
      const double y = low + k * step;
      if (value(y) > best) {
        best = value(y);
        where = y;
      }
    }
    low = std::max(0.0, where - step);
    high = where + step;
  }
  return best;
}

double gaussian_width(const WaveletSpec& spec) {
  return pi * spec.frequency * std::sqrt(2.0 / spec.derivative);  // √a
}

double ricker_value(const WaveletSpec& spec, double tau) {
  const double a = std::pow(pi * spec.frequency * tau, 2);
  return (1 - 2 * a) * std::exp(-a);
}

double gabor_value(const WaveletSpec& spec, double tau) {
  const double angle = 2 * pi * spec.frequency * tau;
  return std::exp(-std::pow(angle / spec.gamma, 2)) * std::cos(angle + spec.phase * pi / 180);
}

double gaussian_value(const WaveletSpec& spec, double tau) {
  const int n = spec.derivative;
  const double y = gaussian_width(spec) * tau;
  // d^n/dy^n exp(−y²) = (−1)^n H_n(y) exp(−y²).
  const double sign = (n % 2 == 0 ? 1.0 : -1.0) * ((n / 2) % 2 == 0 ? 1.0 : -1.0);
  return sign * hermite(n, y) * std::exp(-y * y) / hermite_peak(n);
}

double ormsby_value(const WaveletSpec& spec, double tau) {
  const auto& f = spec.corners;
  const auto g = [tau](double frequency) {
    const double x = pi * frequency * tau;
    const double sinc = std::abs(x) < 1e-8 ? 1.0 : std::sin(x) / x;
    return pi * frequency * frequency * sinc * sinc;
  };
  const double raw = (g(f[3]) - g(f[2])) / (f[3] - f[2]) - (g(f[1]) - g(f[0])) / (f[1] - f[0]);
  return raw / (pi * (f[3] + f[2] - f[1] - f[0]));
}

/// Time after which the Ormsby tail's bound, (1/(f4−f3) + 1/(f2−f1)) / (π² τ² (f4+f3−f2−f1)), is under
/// `level`.
double ormsby_reach(const std::array<double, 4>& f, double level) {
  const double ramps = 1 / (f[3] - f[2]) + 1 / (f[1] - f[0]);
  return std::sqrt(ramps / (f[3] + f[2] - f[1] - f[0]) / level) / pi;
}

/// Half the time over which a wavelet by formula is worth looking at.
double half_length(const WaveletSpec& spec) {
  switch (spec.kind) {
    case WaveletKind::ricker:
      return 2.2 / spec.frequency;
    case WaveletKind::gabor:
      return 6 * spec.gamma / (2 * pi * spec.frequency);
    case WaveletKind::gaussian:
      return 7 / gaussian_width(spec);
    case WaveletKind::ormsby:
      return ormsby_reach(spec.corners, 1e-3);
    case WaveletKind::file:
    case WaveletKind::samples:
      break;
  }
  throw InternalError("half_length: this wavelet has no formula");
}

/// In-place radix-2 transform; the size is a power of two.
void transform(std::vector<std::complex<double>>& a) {
  const std::size_t n = a.size();
  for (std::size_t i = 1, j = 0; i < n; ++i) {
    std::size_t bit = n >> 1;
    for (; j & bit; bit >>= 1) j ^= bit;
    j ^= bit;
    if (i < j) std::swap(a[i], a[j]);
  }
  for (std::size_t length = 2; length <= n; length <<= 1) {
    for (std::size_t k = 0; k < length / 2; ++k) {
      const std::complex<double> turn =
          std::polar(1.0, -2 * pi * static_cast<double>(k) / static_cast<double>(length));
      for (std::size_t start = 0; start < n; start += length) {
        const std::complex<double> even = a[start + k];
        const std::complex<double> odd = a[start + k + length / 2] * turn;
        a[start + k] = even + odd;
        a[start + k + length / 2] = even - odd;
      }
    }
  }
}

/// Fills the frequencies of `facts` from the spectrum of `series`, sampled every `step` seconds.
void add_spectrum(WaveletFacts& facts, const std::vector<double>& series, double step, double dt) {
  const std::vector<double> spectrum = amplitude_spectrum(series);
  const std::size_t last = spectrum.size() - 1;
  const double bin = 1 / (2 * static_cast<double>(last) * step);
  const auto peak =
      static_cast<std::size_t>(std::max_element(spectrum.begin(), spectrum.end()) - spectrum.begin());
  const double floor = 0.01 * spectrum[peak];
  facts.dominant_frequency = bin * static_cast<double>(peak);
  if (peak > 0 && peak < last) {  // the vertex of the parabola through the three highest bins
    const double left = spectrum[peak - 1], top = spectrum[peak], right = spectrum[peak + 1];
    const double bend = left - 2 * top + right;
    if (bend < 0) facts.dominant_frequency += bin * 0.5 * (left - right) / bend;
  }
  std::size_t k = last;
  while (k > peak && spectrum[k] < floor) --k;
  facts.top_frequency = bin * static_cast<double>(k);
  if (k < last) facts.top_frequency += bin * (spectrum[k] - floor) / (spectrum[k] - spectrum[k + 1]);
  double total = 0;
  double high = 0;
  for (std::size_t i = 0; i <= last; ++i) {
    const double energy = spectrum[i] * spectrum[i] * (i == 0 || i == last ? 0.5 : 1.0);
    total += energy;
    if (bin * static_cast<double>(i) > 0.8 / (2 * dt)) high += energy;
  }
  facts.high_energy = high / total;
}

/// Facts of `series`, sampled every `step` seconds from `start` on, for a run that samples it every dt from
/// t0 on.
WaveletFacts facts_of(const std::vector<double>& series, double start, double step, double t0, double dt) {
  WaveletFacts facts;
  std::size_t peak = 0;
  for (std::size_t k = 0; k < series.size(); ++k) {
    if (std::abs(series[k]) > facts.peak) {
      facts.peak = std::abs(series[k]);
      peak = k;
    }
  }
  if (!(facts.peak > 0) || !std::isfinite(facts.peak)) return WaveletFacts{};
  facts.peak_time = start + static_cast<double>(peak) * step;
  std::size_t onset = 0;
  while (std::abs(series[onset]) <= 0.01 * facts.peak) ++onset;
  facts.onset_time = start + static_cast<double>(onset) * step;
  std::size_t last = series.size() - 1;
  while (std::abs(series[last]) <= 0.01 * facts.peak) --last;
  facts.end_time = start + static_cast<double>(last) * step;
  for (std::size_t k = 0; k < series.size() && start + static_cast<double>(k) * step <= t0 + 1e-9 * dt; ++k) {
    facts.cut_ratio = std::max(facts.cut_ratio, std::abs(series[k]) / facts.peak);
  }
  add_spectrum(facts, series, step, dt);
  return facts;
}

}  // namespace

double default_delay(const WaveletSpec& spec) {
  switch (spec.kind) {
    case WaveletKind::ricker:
      return 1.5 / spec.frequency;
    case WaveletKind::gaussian:
      return 1.5 / spec.frequency * std::sqrt(spec.derivative / 2.0);
    case WaveletKind::gabor:
      return spec.gamma / (2 * spec.frequency);
    case WaveletKind::ormsby:
      return ormsby_reach(spec.corners, 5e-3);
    case WaveletKind::file:
    case WaveletKind::samples:
      break;
  }
  return 0;
}

double wavelet_value(const WaveletSpec& spec, double t) {
  const double tau = t - spec.delay;
  switch (spec.kind) {
    case WaveletKind::ricker:
      return ricker_value(spec, tau);
    case WaveletKind::gabor:
      return gabor_value(spec, tau);
    case WaveletKind::ormsby:
      return ormsby_value(spec, tau);
    case WaveletKind::gaussian:
      return gaussian_value(spec, tau);
    case WaveletKind::file:
    case WaveletKind::samples:
      break;
  }
  throw InternalError("wavelet_value: this wavelet has no formula");
}

std::vector<double> sample_wavelet(const WaveletSpec& spec, double t0, double dt, std::int64_t count) {
  std::vector<double> samples(static_cast<std::size_t>(std::max<std::int64_t>(count, 0)));
  for (std::size_t k = 0; k < samples.size(); ++k) {
    samples[k] = wavelet_value(spec, t0 + static_cast<double>(k) * dt);
  }
  return samples;
}

std::vector<double> amplitude_spectrum(const std::vector<double>& series, int padding) {
  std::size_t size = 2;
  while (size < series.size() * static_cast<std::size_t>(std::max(padding, 1))) size <<= 1;
  std::vector<std::complex<double>> values(size);
  std::copy(series.begin(), series.end(), values.begin());
  transform(values);
  std::vector<double> spectrum(size / 2 + 1);
  for (std::size_t k = 0; k < spectrum.size(); ++k) spectrum[k] = std::abs(values[k]);
  return spectrum;
}

WaveletFacts wavelet_facts(const WaveletSpec& spec, double t0, double dt) {
  const double highest = spec.kind == WaveletKind::ormsby ? spec.corners[3] : spec.frequency;
  const double half = half_length(spec);
  // Four times finer than the run, to see what lies above its Nyquist frequency; bounded for very long
  // wavelets.
  constexpr double most_samples = 1 << 16;
  const double step = std::max(std::min(dt / 4, 1 / (16 * highest)), 2 * half / most_samples);
  const double start = spec.delay - half;
  const auto count = static_cast<std::int64_t>(std::ceil(2 * half / step)) + 1;
  WaveletFacts facts = facts_of(sample_wavelet(spec, start, step, count), start, step, t0, dt);
  // A wavelet whose centre lies before the run is seen from t0 on, however far back it lies.
  if (start + static_cast<double>(count - 1) * step < t0) facts.cut_ratio = 1;
  return facts;
}

WaveletFacts series_facts(const std::vector<double>& series, double t0, double dt) {
  return facts_of(series, t0, dt, t0, dt);
}

std::vector<std::string> wavelet_warnings(const WaveletFacts& facts, const std::string& where, double t0,
                                          double dt, std::int64_t steps) {
  std::vector<std::string> warnings;
  if (steps <= 0) return warnings;
  if (!(facts.peak > 0)) return {where + ": the wavelet is zero everywhere; the source is silent"};
  if (facts.end_time < t0 - 1e-9 * dt) {
    return {
        fmt::format("{}: the wavelet, at its peak at {:g} s, ended before t0 ({:g} s): the run stays silent",
                    where, facts.peak_time, t0)};
  }
  if (facts.cut_ratio > 0.01) {
    warnings.push_back(fmt::format(
        "{}: the wavelet starts at {:.3g} % of its peak (its first sample is at {:g} s), a jump that "
        "radiates noise; delay it so that it starts under 1 %",
        where, 100 * facts.cut_ratio, t0));
  }
  const double nyquist = 1 / (2 * dt);
  if (facts.high_energy > 1e-4) {
    warnings.push_back(
        fmt::format("{}: {:.2g} % of the wavelet's energy lies above 0.8 of the Nyquist frequency {:g} Hz of "
                    "dt = {:g} s; "
                    "use a smaller dt or a lower frequency",
                    where, 100 * facts.high_energy, nyquist, dt));
  }
  const double end = t0 + static_cast<double>(steps - 1) * dt;
  const double slack = 1e-9 * dt;
  if (facts.onset_time > end + slack) {
    warnings.push_back(
        fmt::format("{}: the wavelet starts at {:g} s, after the record ends ({:g} s): the run stays silent",
                    where, facts.onset_time, end));
  } else if (facts.peak_time > end + slack) {
    warnings.push_back(fmt::format("{}: the record ends at {:g} s, before the wavelet's peak at {:g} s",
                                   where, end, facts.peak_time));
  }
  return warnings;
}

std::optional<std::string> sampling_warning(double slowest, double top_frequency,
                                            const std::vector<double>& spacing) {
  constexpr double advised = 5;
  if (spacing.empty() || !(top_frequency > 0) || !(slowest > 0)) return std::nullopt;
  const double coarsest = *std::max_element(spacing.begin(), spacing.end());
  const double wavelength = slowest / top_frequency;
  if (wavelength / coarsest >= advised) return std::nullopt;
  return fmt::format(
      "{:.2f} points per wavelength at {:g} m/s, the slowest speed, and {:.4g} Hz, where the wavelet's "
      "spectrum falls below "
      "1 % of its peak, on a spacing of {:g} m; at least {:g} are advised: a spacing of {:.4g} m or less",
      wavelength / coarsest, slowest, top_frequency, coarsest, advised, wavelength / advised);
}

}  // namespace ondula::io
