// The windowed sinc between samples.
// SPDX-License-Identifier: MIT
#include "runtime/substeps.hpp"
#include "runtime/kaiser_sinc.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace ondula {
namespace {

constexpr int half_width = 16;  // samples
constexpr double kaiser_beta = 9;

/// By phase: g(phase - j) for j = -half_width ... half_width.
std::vector<std::vector<double>> phase_kernels(int substeps, double shift) {
  std::vector<std::vector<double>> kernels;
  for (int p = 0; p < substeps; ++p) {
    std::vector<double> kernel;
    for (int j = -half_width; j <= half_width; ++j)
      kernel.push_back(substep_kernel((p + shift) / substeps - j));
    kernels.push_back(std::move(kernel));
  }
  return kernels;
}

}  // namespace

double substep_kernel(double x) { return KaiserSinc(half_width, kaiser_beta)(x); }

std::vector<double> fine_wavelet(std::span<const double> wavelet, int substeps, double shift,
                                 std::int64_t count) {
  const auto length = static_cast<std::int64_t>(wavelet.size());
  std::vector<double> result;
  if (substeps == 1 && shift == 0) {
    const std::int64_t kept = std::min(count, length);
    result.assign(wavelet.begin(), wavelet.begin() + kept);
    return result;
  }
  // Past the last sample's reach all is 0, and a shorter series means the same.
  const std::int64_t fine = std::min(count, (length + half_width) * substeps);
  const std::vector<std::vector<double>> kernels = phase_kernels(substeps, shift);
  result.assign(static_cast<std::size_t>(std::max<std::int64_t>(fine, 0)), 0.0);
  for (std::int64_t n = 0; n < fine; ++n) {
    const std::int64_t base = n / substeps;
    const std::vector<double>& kernel = kernels[static_cast<std::size_t>(n % substeps)];
    double sum = 0;
    for (int j = -half_width; j <= half_width; ++j) {
      const std::int64_t k = base + j;
      if (k >= 0 && k < length)
        sum += wavelet[static_cast<std::size_t>(k)] * kernel[static_cast<std::size_t>(j + half_width)];
    }
    result[static_cast<std::size_t>(n)] = sum;
  }
  return result;
}

std::vector<double> fine_wavelet_transposed(std::span<const double> fine, int substeps, double shift,
                                            std::int64_t length) {
  std::vector<double> result(static_cast<std::size_t>(length), 0.0);
  const auto count = static_cast<std::int64_t>(fine.size());
  if (substeps == 1 && shift == 0) {
    std::copy_n(fine.begin(), std::min(count, length), result.begin());
    return result;
  }
  const std::vector<std::vector<double>> kernels = phase_kernels(substeps, shift);
  for (std::int64_t n = 0; n < std::min(count, (length + half_width) * substeps); ++n) {
    const std::vector<double>& kernel = kernels[static_cast<std::size_t>(n % substeps)];
    for (int j = -half_width; j <= half_width; ++j) {
      const std::int64_t k = n / substeps + j;
      if (k >= 0 && k < length)
        result[static_cast<std::size_t>(k)] +=
            fine[static_cast<std::size_t>(n)] * kernel[static_cast<std::size_t>(j + half_width)];
    }
  }
  return result;
}

}  // namespace ondula
