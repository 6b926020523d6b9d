// How amplitudes become colours: the clip of a picture, and the words that state it.
// SPDX-License-Identifier: MIT
#include "runtime/io/gain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "runtime/io/axis.hpp"

namespace ondula::io {

Gain measure_gain(std::span<const double> values, double percent, double least_share, double most_medians) {
  Gain gain;
  std::vector<double> sizes;
  sizes.reserve(values.size());
  for (const double value : values)
    if (std::isfinite(value)) sizes.push_back(std::abs(value));
  gain.not_finite = static_cast<std::int64_t>(values.size() - sizes.size());
  if (sizes.empty()) return gain;
  gain.maximum = *std::max_element(sizes.begin(), sizes.end());
  if (gain.maximum == 0.0) return gain;
  const auto count = static_cast<double>(sizes.size());
  const auto rank =
      static_cast<std::ptrdiff_t>(std::clamp(std::ceil(0.01 * percent * count) - 1.0, 0.0, count - 1.0));
  std::nth_element(sizes.begin(), sizes.begin() + rank, sizes.end());
  gain.clip = sizes[static_cast<std::size_t>(rank)];
  if (most_medians > 0) {
    const auto quiet =
        std::partition(sizes.begin(), sizes.end(), [&](double size) { return size <= 1e-4 * gain.maximum; });
    const auto middle = quiet + (sizes.end() - quiet) / 2;
    std::nth_element(quiet, middle, sizes.end());
    gain.clip = std::min(gain.clip, most_medians * *middle);
  }
  gain.clip = std::max(gain.clip, least_share * gain.maximum);
  if (gain.clip == 0.0) gain.clip = gain.maximum;
  const auto kept = std::count_if(sizes.begin(), sizes.end(), [&](double size) { return size <= gain.clip; });
  gain.share = static_cast<double>(kept) / count;
  return gain;
}

std::string gain_text(const Gain& gain, const std::string& unit) {
  const std::string after = unit.empty() || unit == "1" ? "" : " " + unit;
  std::string text = gain.maximum == 0.0 ? "all zero"
                                         : fmt::format("clip {}{} ({:.1f} % of |amplitude|), maximum {}{}",
                                                       short_number(gain.clip), after, 100.0 * gain.share,
                                                       short_number(gain.maximum), after);
  if (gain.not_finite > 0) text += fmt::format("; {} values are not finite (magenta)", gain.not_finite);
  return text;
}

}  // namespace ondula::io
