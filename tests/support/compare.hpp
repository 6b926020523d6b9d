// Differences between two arrays, in the measures the tolerances are stated in.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <ranges>
#include <stdexcept>
#include <string>

namespace ondula::test {

namespace detail {

template <typename A, typename B>
std::size_t common_size(const A& values, const B& reference) {
  const std::size_t size = std::ranges::size(values);
  if (size != std::ranges::size(reference))
    throw std::invalid_argument("compared arrays differ in size: " + std::to_string(size) + " and " +
                                std::to_string(std::ranges::size(reference)));
  return size;
}

/// A NaN differs from everything, and must not get lost in a maximum.
inline double worse(double a, double b) { return std::isnan(b) || b > a ? b : a; }

}  // namespace detail

/// max |values - reference|; NaN if any element is NaN. Throws std::invalid_argument on unequal sizes.
template <std::ranges::random_access_range A, std::ranges::random_access_range B>
double max_abs_diff(const A& values, const B& reference) {
  const std::size_t size = detail::common_size(values, reference);
  double result = 0;
  for (std::size_t i = 0; i < size && !std::isnan(result); ++i)
    result =
        detail::worse(result, std::abs(static_cast<double>(values[i]) - static_cast<double>(reference[i])));
  return result;
}

/// max |values|; NaN if any element is NaN.
template <std::ranges::random_access_range A>
double max_abs(const A& values) {
  double result = 0;
  for (std::size_t i = 0; i < std::ranges::size(values) && !std::isnan(result); ++i)
    result = detail::worse(result, std::abs(static_cast<double>(values[i])));
  return result;
}

/// ||values - reference|| / ||reference|| in the Euclidean norm; 0 where both are zero, infinity where the
/// reference alone is. Throws std::invalid_argument on unequal sizes.
template <std::ranges::random_access_range A, std::ranges::random_access_range B>
double relative_l2(const A& values, const B& reference) {
  const std::size_t size = detail::common_size(values, reference);
  double error = 0, norm = 0;
  for (std::size_t i = 0; i < size; ++i) {
    const double r = static_cast<double>(reference[i]), d = static_cast<double>(values[i]) - r;
    error += d * d;
    norm += r * r;
  }
  if (error == 0) return 0;
  return norm == 0 ? std::numeric_limits<double>::infinity() : std::sqrt(error / norm);
}

/// max |values - reference| / max |reference|, in decibels (-60: a thousandth); minus infinity where they are
/// equal.
template <std::ranges::random_access_range A, std::ranges::random_access_range B>
double difference_db(const A& values, const B& reference) {
  const double difference = max_abs_diff(values, reference);
  if (difference == 0) return -std::numeric_limits<double>::infinity();
  return 20 * std::log10(difference / max_abs(reference));
}

}  // namespace ondula::test
