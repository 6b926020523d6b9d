// Source wavelets: by formula, from samples, and what their spectrum says about a run.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace ondula::io {

/// Where a wavelet comes from. With τ = t − delay:
///  - ricker: (1 − 2a)·exp(−a), a = (π f τ)² (Ricker 1953); 1 at τ = 0, peak of its spectrum at f.
///  - gabor: exp(−(2π f τ/γ)²)·cos(2π f τ + phase) (Gabor 1946; Červený 2001, section 1.2).
///  - ormsby: the zero-phase trapezoid 0 below f1, flat from f2 to f3, 0 above f4 (Ryan 1994), scaled to 1 at
///  τ = 0:
///    [ (g(f4) − g(f3))/(f4 − f3) − (g(f2) − g(f1))/(f2 − f1) ] / (π (f4 + f3 − f2 − f1)), g(f) = π (f sinc(f
///    τ))².
///  - gaussian: the derivative of exp(−a τ²) of order n (1 to 8), a = 2 π² f²/n, so that its spectrum peaks
///  at f;
///    scaled to a largest absolute value of 1, and of the sign (−1)^⌊n/2⌋: order 2 is the Ricker wavelet.
///  - file: a .npy of (time) or (source, time), sampled with the job's dt from t0 on.
///  - samples: the same, inline.
enum class WaveletKind { ricker, gabor, ormsby, gaussian, file, samples };

/// One wavelet as a job states it. Only the members its kind names above are read.
struct WaveletSpec {
  WaveletKind kind = WaveletKind::ricker;
  double frequency = 0;             ///< Hz, > 0
  double delay = 0;                 ///< s, on the clock whose sample k is at t0 + k·dt
  double gamma = 4;                 ///< > 0: the Gabor envelope's width in periods, times about 0.4
  double phase = 0;                 ///< degrees
  int derivative = 2;               ///< 1 to 8
  std::array<double, 4> corners{};  ///< Hz, 0 <= f1 < f2 <= f3 < f4
  std::filesystem::path file;
  std::vector<double> samples;
  bool operator==(const WaveletSpec&) const = default;
};

/// The delay (s) after which a wavelet by formula starts under 1 % of its peak: 1.5/f for
/// ricker, 1.5/f·√(n/2) for gaussian, γ/(2f) for gabor; for ormsby where the bound of its tail passes 0.5 %.
double default_delay(const WaveletSpec& spec);

/// The value at time t (s) of a wavelet by formula. Throws InternalError for `file` and `samples`.
double wavelet_value(const WaveletSpec& spec, double t);

/// `count` samples at t0 + k·dt of a wavelet by formula.
std::vector<double> sample_wavelet(const WaveletSpec& spec, double t0, double dt, std::int64_t count);

/// Amplitude spectrum of a real series: entry k belongs to frequency k/(2·(size − 1)·dt); the series is
/// padded with zeros to a power of two at least `padding` times its length.
std::vector<double> amplitude_spectrum(const std::vector<double>& series, int padding = 4);

/// What a run wants to know of a wavelet.
struct WaveletFacts {
  double peak = 0;        ///< largest absolute value; 0 for a silent wavelet, and the rest is then 0
  double peak_time = 0;   ///< s, where it is reached
  double onset_time = 0;  ///< s, first time over 1 % of the peak
  double end_time = 0;    ///< s, last time over 1 % of the peak
  double cut_ratio = 0;   ///< largest absolute value at or before the first sample (t0), over the peak
  double dominant_frequency = 0;  ///< Hz, peak of the amplitude spectrum
  double top_frequency = 0;       ///< Hz, above it the spectrum stays below 1 % of its peak
  double high_energy = 0;         ///< fraction of the energy above 0.8 of the Nyquist frequency 1/(2 dt)
};

/// Facts of a wavelet by formula, seen over its whole length, whatever the run's.
WaveletFacts wavelet_facts(const WaveletSpec& spec, double t0, double dt);

/// Facts of samples at t0 + k·dt.
WaveletFacts series_facts(const std::vector<double>& series, double t0, double dt);

/// Warnings on one wavelet, `where` in front ("sources[2].wavelet"): silent; over before t0; cut off at its
/// first sample; energy above 0.8 Nyquist; peak or onset after the last record sample (t0 + (steps − 1)·dt).
/// None for 0 steps.
std::vector<std::string> wavelet_warnings(const WaveletFacts& facts, const std::string& where, double t0,
                                          double dt, std::int64_t steps);

/// The warning where the slowest speed (m/s) has under 5 points per wavelength at `top_frequency` (Hz) on the
/// coarsest spacing (m): the figure, and the spacing that would do.
std::optional<std::string> sampling_warning(double slowest, double top_frequency,
                                            const std::vector<double>& spacing);

}  // namespace ondula::io
