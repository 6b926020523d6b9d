// Bringing a plane of numbers to the pixels of a picture.
// SPDX-License-Identifier: MIT
#include "runtime/io/resample.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ondula::io {

namespace {

/// The cells that one pixel takes from, and their weights, which sum to 1.
struct Taps {
  std::int64_t first = 0;
  std::vector<double> weights;
};

double overlap(double a, double b, double c, double d) {
  return std::max(0.0, std::min(b, d) - std::max(a, c));
}

/// The taps of each of `to` pixels over `from` cells.
std::vector<Taps> taps(std::int64_t from, std::int64_t to, Resampling how) {
  std::vector<Taps> all;
  const double scale = static_cast<double>(from) / static_cast<double>(to);
  const double reach = how == Resampling::cells ? 0.5 * scale : std::max(1.0, scale);
  for (std::int64_t pixel = 0; pixel < to; ++pixel) {
    const double centre = (static_cast<double>(pixel) + 0.5) * scale;
    Taps one;
    one.first = std::clamp<std::int64_t>(static_cast<std::int64_t>(std::floor(centre - reach)), 0, from - 1);
    const auto last =
        std::clamp<std::int64_t>(static_cast<std::int64_t>(std::ceil(centre + reach)), one.first, from - 1);
    double sum = 0.0;
    for (std::int64_t cell = one.first; cell <= last; ++cell) {
      const auto x = static_cast<double>(cell);
      const double weight = how == Resampling::cells
                                ? overlap(x, x + 1.0, centre - reach, centre + reach)
                                : std::max(0.0, 1.0 - std::abs(x + 0.5 - centre) / reach);
      one.weights.push_back(weight);
      sum += weight;
    }
    for (double& weight : one.weights) weight /= sum;
    all.push_back(std::move(one));
  }
  return all;
}

double weighted(const double* values, std::int64_t stride, const Taps& taps_of_pixel) {
  double sum = 0.0;
  const double* at = values + taps_of_pixel.first * stride;
  for (const double weight : taps_of_pixel.weights) {
    if (weight > 0.0) sum += weight * *at;
    at += stride;
  }
  return std::isfinite(sum) ? sum : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace

Plane resample(const Plane& plane, std::int64_t height, std::int64_t width, Resampling how) {
  const std::vector<Taps> across = taps(plane.columns, width, how);
  const std::vector<Taps> down = taps(plane.rows, height, how);
  std::vector<double> wide;
  wide.reserve(static_cast<std::size_t>(plane.rows * width));
  for (std::int64_t row = 0; row < plane.rows; ++row)
    for (const Taps& pixel : across)
      wide.push_back(weighted(plane.values.data() + row * plane.columns, 1, pixel));
  Plane out{height, width, {}};
  out.values.reserve(static_cast<std::size_t>(height * width));
  for (const Taps& pixel : down)
    for (std::int64_t column = 0; column < width; ++column)
      out.values.push_back(weighted(wide.data() + column, width, pixel));
  return out;
}

}  // namespace ondula::io
