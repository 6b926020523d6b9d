// Axes of pictures: round tick positions, and numbers as people write them.
// SPDX-License-Identifier: MIT
#include "runtime/io/axis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace ondula::io {

Ticks round_ticks(double low, double high, int most) {
  Ticks ticks;
  if (!std::isfinite(low) || !std::isfinite(high) || !(low < high)) return ticks;
  const int start = static_cast<int>(std::floor(std::log10((high - low) / std::max(most, 2)))) - 1;
  for (int power = start;; ++power)
    for (const int factor : {1, 2, 5}) {
      const double step = factor * std::pow(10.0, power);
      const double slack = 1e-9 * (high - low);
      const double first = std::ceil((low - slack) / step);
      const double last = std::floor((high + slack) / step);
      if (last - first + 1.0 > std::max(most, 2)) continue;
      for (double k = first; k <= last; k += 1.0) {
        ticks.values.push_back(k * step);
        ticks.labels.push_back(fmt::format("{:.{}f}", k == 0.0 ? 0.0 : k * step, std::max(0, -power)));
      }
      return ticks;
    }
}

std::string short_number(double value, int digits) {
  const double size = std::abs(value);
  const bool scientific = size != 0.0 && (size < 1e-3 || size >= 1e6);
  if (!scientific || !std::isfinite(value))
    return fmt::format("{:.{}g}", value, std::max(digits, size >= 1e3 ? 6 : digits));
  const std::string text = fmt::format("{:.{}e}", value, digits - 1);
  const std::size_t e = text.find('e');
  std::string mantissa = text.substr(0, e);
  if (mantissa.find('.') != std::string::npos) {
    mantissa.erase(mantissa.find_last_not_of('0') + 1);
    if (mantissa.back() == '.') mantissa.pop_back();
  }
  return fmt::format("{}e{}", mantissa, std::stoi(text.substr(e + 1)));
}

int common_exponent(double largest) {
  const double size = std::abs(largest);
  if (!std::isfinite(size) || size == 0.0 || (size >= 0.01 && size < 10000.0)) return 0;
  return static_cast<int>(std::floor(std::log10(size)));
}

std::string scaled_unit(const std::string& unit, int exponent) {
  const std::string shown = unit == "1" ? "" : unit;
  if (exponent == 0) return shown;
  return fmt::format("10^{}{}{}", exponent, shown.empty() ? "" : " ", shown);
}

}  // namespace ondula::io
