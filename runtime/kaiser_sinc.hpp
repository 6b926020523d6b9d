// The Kaiser-windowed sinc by which points off the grid and samples between samples are read.
// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <numbers>

namespace ondula {

/// sinc(x) I0(beta sqrt(1 - (x/radius)^2)) / I0(beta) for |x| < radius, else 0 (Hicks 2002, eq. 8); x and
/// radius in samples or cells.
class KaiserSinc {
 public:
  KaiserSinc(double radius, double beta)
      : radius_(radius), beta_(beta), peak_(std::cyl_bessel_i(0.0, beta)) {}
  double operator()(double x) const {
    const double ratio = x / radius_;
    if (std::fabs(ratio) >= 1.0) return 0.0;
    const double window = std::cyl_bessel_i(0.0, beta_ * std::sqrt(1.0 - ratio * ratio)) / peak_;
    const double phase = std::numbers::pi * x;
    return window * (x == 0.0 ? 1.0 : std::sin(phase) / phase);
  }

 private:
  double radius_, beta_, peak_;
};

}  // namespace ondula
