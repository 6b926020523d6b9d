// Moment tensors.
// SPDX-License-Identifier: MIT
#include "runtime/moment.hpp"

#include <cmath>
#include <numbers>

namespace ondula {

std::vector<double> explosion(std::size_t axes) {
  std::vector<double> tensor(axes * axes, 0.0);
  for (std::size_t a = 0; a < axes; ++a) tensor[a * axes + a] = 1;
  return tensor;
}

std::vector<double> double_couple(double strike, double dip, double rake) {
  constexpr double degree = std::numbers::pi / 180;
  const double s = strike * degree, d = dip * degree, r = rake * degree;
  // x north, y east, z down; the formulas of Aki & Richards for unit moment.
  const double xx = -(std::sin(d) * std::cos(r) * std::sin(2 * s) +
                      std::sin(2 * d) * std::sin(r) * std::sin(s) * std::sin(s));
  const double xy =
      std::sin(d) * std::cos(r) * std::cos(2 * s) + 0.5 * std::sin(2 * d) * std::sin(r) * std::sin(2 * s);
  const double xz = -(std::cos(d) * std::cos(r) * std::cos(s) + std::cos(2 * d) * std::sin(r) * std::sin(s));
  const double yy =
      std::sin(d) * std::cos(r) * std::sin(2 * s) - std::sin(2 * d) * std::sin(r) * std::cos(s) * std::cos(s);
  const double yz = -(std::cos(d) * std::cos(r) * std::sin(s) - std::cos(2 * d) * std::sin(r) * std::cos(s));
  const double zz = std::sin(2 * d) * std::sin(r);
  return {zz, yz, xz, yz, yy, xy, xz, xy, xx};
}

std::vector<double> double_couple_2d(double dip) {
  const std::vector<double> whole = double_couple(-90, dip, 90);
  return {whole[0], whole[2], whole[6], whole[8]};
}

}  // namespace ondula
