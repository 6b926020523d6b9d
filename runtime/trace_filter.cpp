// Linear filters of one trace, by its spectrum.
// SPDX-License-Identifier: MIT
#include "runtime/trace_filter.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>

#include "compiler/error.hpp"

namespace ondula {
namespace {

double power8(double x) {
  const double square = x * x, fourth = square * square;
  return fourth * fourth;
}

}  // namespace

TraceFilter::TraceFilter(std::size_t samples, double dt)
    : samples_(samples), length_(std::bit_ceil(std::max<std::size_t>(2 * samples, 4))), dt_(dt) {}

std::vector<double> TraceFilter::band(std::span<const double> trace, double low, double high) const {
  return apply(trace, [&](double f) {
    if (low > 0 && f == 0) return 0.0;
    const double below = low > 0 ? power8(low / f) : 0.0;
    return 1 / ((1 + power8(f / high)) * (1 + below));
  });
}

std::vector<double> TraceFilter::hilbert(std::span<const double> trace) const {
  const double nyquist = 0.5 / dt_;
  return apply(trace, [&](double f) {
    const bool edge = f == 0 || f >= nyquist * (1 - 1e-12);
    return std::complex<double>(0, edge ? 0 : -1);
  });
}

/// `gain` of frequencies from 0 to Nyquist; those below 0 take its conjugate, so that traces stay real.
std::vector<double> TraceFilter::apply(std::span<const double> trace,
                                       const std::function<std::complex<double>(double)>& gain) const {
  if (trace.size() != samples_) throw InternalError("a trace of another length than its filter");
  Spectrum values(length_);
  for (std::size_t i = 0; i < samples_; ++i) values[i] = trace[i];
  transform(values, -1);
  const double step = 1 / (static_cast<double>(length_) * dt_);
  const double scale = 1 / static_cast<double>(length_);
  for (std::size_t k = 0; k <= length_ / 2; ++k) {
    const std::complex<double> g = gain(static_cast<double>(k) * step) * scale;
    values[k] *= g;
    if (k > 0 && k < length_ / 2) values[length_ - k] *= std::conj(g);
  }
  transform(values, 1);
  std::vector<double> result(samples_);
  for (std::size_t i = 0; i < samples_; ++i) result[i] = values[i].real();
  return result;
}

void TraceFilter::transform(Spectrum& values, int sign) const {
  const std::size_t n = values.size();
  for (std::size_t i = 1, j = 0; i < n; ++i) {
    std::size_t bit = n >> 1;
    for (; (j & bit) != 0; bit >>= 1) j ^= bit;
    j ^= bit;
    if (i < j) std::swap(values[i], values[j]);
  }
  // Each root from its own angle: a recurrence would lose digits over long traces.
  std::vector<std::complex<double>> roots(n / 2);
  for (std::size_t k = 0; k < n / 2; ++k)
    roots[k] = std::polar(1.0, sign * 2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(n));
  for (std::size_t size = 2; size <= n; size *= 2) {
    const std::size_t half = size / 2, stride = n / size;
    for (std::size_t first = 0; first < n; first += size) {
      for (std::size_t k = 0; k < half; ++k) {
        const std::complex<double> odd = values[first + half + k] * roots[k * stride];
        const std::complex<double> even = values[first + k];
        values[first + k] = even + odd;
        values[first + half + k] = even - odd;
      }
    }
  }
}

}  // namespace ondula
