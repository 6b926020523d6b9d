// Physical dimensions of fields and parameters: exponents of metre, kilogram and second.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace ondula::ir {

/// A unit as exponents of m, kg, s. Sums in an equation must agree in it.
struct Unit {
  std::array<int, 3> exponents{};  // m, kg, s

  /// Parses "m/s", "kg/m^3", "Pa", "1", "N/m^2", "1/s"; throws UserError naming the part it cannot read and
  /// the names it knows (m, kg, s, Hz, N, Pa, J, rad, 1).
  static Unit parse(std::string_view text);
  /// "m/s^2", "kg/(m s^2)", or "1".
  std::string text() const;
  Unit power(int exponent) const;
  /// The unit of x^exponent; none where an exponent of m, kg or s would be no whole number.
  std::optional<Unit> raised(double exponent) const;

  friend Unit operator*(const Unit& a, const Unit& b);
  friend Unit operator/(const Unit& a, const Unit& b);
  friend bool operator==(const Unit&, const Unit&) = default;
};

}  // namespace ondula::ir
