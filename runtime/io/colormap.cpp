// Colours for numbers: sequential, diverging and grey scales, computed in a perceptual colour space.
// SPDX-License-Identifier: MIT
#include "runtime/io/colormap.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace ondula::io {

namespace {

/// Linear red, green and blue of an Oklab colour given as lightness, chroma and hue in degrees.
std::array<double, 3> linear_rgb(double lightness, double chroma, double hue) {
  const double a = chroma * std::cos(hue * std::numbers::pi / 180.0);
  const double b = chroma * std::sin(hue * std::numbers::pi / 180.0);
  const double l = std::pow(lightness + 0.3963377774 * a + 0.2158037573 * b, 3.0);
  const double m = std::pow(lightness - 0.1055613458 * a - 0.0638541728 * b, 3.0);
  const double s = std::pow(lightness - 0.0894841775 * a - 1.2914855480 * b, 3.0);
  return {4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
          -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
          -0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s};
}

bool in_gamut(const std::array<double, 3>& rgb) {
  return std::all_of(rgb.begin(), rgb.end(), [](double v) { return v >= 0.0 && v <= 1.0; });
}

std::uint8_t encode(double linear) {
  const double v = std::clamp(linear, 0.0, 1.0);
  const double gamma = v <= 0.0031308 ? 12.92 * v : 1.055 * std::pow(v, 1.0 / 2.4) - 0.055;
  return static_cast<std::uint8_t>(std::lround(255.0 * gamma));
}

/// The nearest colour a screen can show: the chroma is lowered, lightness and hue stay.
Rgb screen_colour(double lightness, double chroma, double hue) {
  double low = 0.0;
  double high = chroma;
  if (in_gamut(linear_rgb(lightness, chroma, hue))) low = chroma;
  for (int k = 0; k < 30 && low < high; ++k) {
    const double half = 0.5 * (low + high);
    (in_gamut(linear_rgb(lightness, half, hue)) ? low : high) = half;
  }
  const auto rgb = linear_rgb(lightness, low, hue);
  return {encode(rgb[0]), encode(rgb[1]), encode(rgb[2])};
}

// The chromas below keep inside what a screen shows at nearly every step: a clipped chroma would show as a
// false edge.
Rgb sequential(double t) {
  const double end = 2.0 * t - 1.0;
  return screen_colour(0.30 + 0.65 * t, 0.098 + 0.042 * end * end, 290.0 - 185.0 * t);
}

Rgb diverging(double t) {
  const double side = std::abs(2.0 * t - 1.0);
  return screen_colour(1.0 - 0.58 * side, side * (0.25 - 0.085 * side), t < 0.5 ? 258.0 : 27.0);
}

Rgb grey(double t) {
  const auto level = static_cast<std::uint8_t>(std::lround(255.0 * (1.0 - t)));
  return {level, level, level};
}

}  // namespace

std::vector<Rgb> colour_table(Colormap map) {
  std::vector<Rgb> table;
  for (int k = 0; k < 257; ++k) {
    const double t = k / 256.0;
    table.push_back(map == Colormap::sequential  ? sequential(t)
                    : map == Colormap::diverging ? diverging(t)
                                                 : grey(t));
  }
  return table;
}

Rgb colour_of(const std::vector<Rgb>& table, double value, double low, double high) {
  if (!std::isfinite(value)) return {255, 0, 255};
  const double last = static_cast<double>(table.size() - 1);
  const double t = high > low ? std::clamp((value - low) / (high - low), 0.0, 1.0) : 0.5;
  return table[static_cast<std::size_t>(std::lround(t * last))];
}

}  // namespace ondula::io
