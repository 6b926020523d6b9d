// Physical dimensions of fields and parameters: exponents of metre, kilogram, second and ampere.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace ondula::ir {

/// A unit as exponents of m, kg, s, A. Sums in an equation must agree in it.
struct Unit {
  std::array<int, 4> exponents{};  // m, kg, s, A

  /// Parses "m/s", "kg/m^3", "Pa", "1", "N/m^2", "S/m"; throws UserError naming the part it cannot read and
  /// the names it knows (1, m, kg, s, A and what they make up: docs/dsl.md, Declarations).
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
