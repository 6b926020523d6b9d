// Axes of pictures: round tick positions, and numbers as people write them.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

namespace ondula::io {

/// Round positions on an axis, with the text of each.
struct Ticks {
  std::vector<double> values;
  std::vector<std::string> labels;
};

/// At most `most` (2 or more) multiples of 1, 2 or 5 times a power of ten in [low, high], written with as
/// many decimals as the step needs. An empty or unbounded range gives no ticks.
Ticks round_ticks(double low, double high, int most);

/// A number with `digits` significant digits (whole numbers to 999999 in full): "0.25", "1.2e-4", "3020".
std::string short_number(double value, int digits = 3);

/// The power of ten to take out of an axis' numbers so that the largest lies in [1, 1000); 0 where |number|
/// is already between 0.01 and 10000.
int common_exponent(double largest);

/// A unit with a power of ten before it: "Pa", "10^-6 Pa", "10^3"; empty where there is nothing to say.
std::string scaled_unit(const std::string& unit, int exponent);

}  // namespace ondula::io
