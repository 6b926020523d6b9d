// Wavelets between their samples: what a step shorter than the sampling interval is fed with.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace ondula {

/// g(x) = sinc(x) I0(9 sqrt(1 - (x/16)^2)) / I0(9) for |x| < 16, else 0 (numerics.md, Substeps; Kaiser's
/// window).
double substep_kernel(double x);

/// s_n = sum_k w_k g((n + shift)/substeps - k) for n = 0 ... count - 1, w zero outside its samples. With one
/// substep and no shift s is w itself. `shift` is in steps: 1/2 for what is fed in the middle of a step.
std::vector<double> fine_wavelet(std::span<const double> wavelet, int substeps, double shift,
                                 std::int64_t count);

/// The transpose: sum_n s_n g((n + shift)/substeps - k) for k = 0 ... length - 1; a plain copy where
/// fine_wavelet is one.
std::vector<double> fine_wavelet_transposed(std::span<const double> fine, int substeps, double shift,
                                            std::int64_t length);

}  // namespace ondula
