// The largest magnitude of many numbers.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace ondula::loop {

/// The largest |value|; not finite as soon as one value is not. Without its sign a floating-point number
/// orders as its bits do, infinities and NaN last, and integers have no chain of rounded sums to wait for.
template <class Real>
Real largest_magnitude(const Real* data, std::int64_t count) {
  using Bits = std::conditional_t<sizeof(Real) == 4, std::int32_t, std::int64_t>;
  constexpr Bits magnitude = std::numeric_limits<Bits>::max();
  constexpr std::int64_t lanes = 8;
  std::array<Bits, lanes> most{};
  const std::int64_t whole = count / lanes * lanes;
  for (std::int64_t i = 0; i < whole; i += lanes) {
    for (std::int64_t lane = 0; lane < lanes; ++lane) {
      const Bits bits = std::bit_cast<Bits>(data[i + lane]) & magnitude;
      most[static_cast<std::size_t>(lane)] =
          bits > most[static_cast<std::size_t>(lane)] ? bits : most[static_cast<std::size_t>(lane)];
    }
  }
  for (std::int64_t i = whole; i < count; ++i)
    most[0] = std::max(most[0], std::bit_cast<Bits>(data[i]) & magnitude);
  return std::bit_cast<Real>(*std::max_element(most.begin(), most.end()));
}

}  // namespace ondula::loop
