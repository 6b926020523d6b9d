// Linear filters of one trace, each with its exact transpose: a zero-phase band-pass and the Hilbert
// transform. SPDX-License-Identifier: MIT
#pragma once

#include <complex>
#include <functional>
#include <span>
#include <vector>

namespace ondula {

/// Filters traces of one length by their spectrum, with as many zeros behind a trace that its end does not
/// reach its beginning. A filter with real gains is its own transpose, one with imaginary gains the negative
/// of its transpose, exactly up to rounding.
class TraceFilter {
 public:
  /// For traces of `samples` samples (0 and up), `dt` seconds apart.
  TraceFilter(std::size_t samples, double dt);

  /// Zero phase, gain 1/((1 + (f/high)^8)(1 + (low/f)^8)): a Butterworth filter of order 4 run forward and
  /// backward, half the amplitude at each corner. Without the factor of `low` where that is 0. Symmetric.
  std::vector<double> band(std::span<const double> trace, double low, double high) const;

  /// The Hilbert transform, whose spectrum is -i sign(f) times the trace's. Antisymmetric.
  std::vector<double> hilbert(std::span<const double> trace) const;

 private:
  using Spectrum = std::vector<std::complex<double>>;
  std::vector<double> apply(std::span<const double> trace,
                            const std::function<std::complex<double>(double)>& gain) const;
  /// In place; `sign` -1 forward, +1 backward, unscaled.
  void transform(Spectrum& values, int sign) const;

  std::size_t samples_;
  std::size_t length_;  ///< a power of two, at least twice the samples
  double dt_;
};

}  // namespace ondula
