// Parsing and arithmetic of units.
// SPDX-License-Identifier: MIT
#include "compiler/ir/unit.hpp"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <vector>

#include "compiler/error.hpp"

namespace ondula::ir {
namespace {

constexpr std::size_t base_units = std::tuple_size_v<decltype(Unit::exponents)>;

const std::map<std::string, std::array<int, base_units>, std::less<>>& known_units() {
  static const std::map<std::string, std::array<int, base_units>, std::less<>> units = {
      {"1", {}},
      {"m", {1}},
      {"kg", {0, 1}},
      {"s", {0, 0, 1}},
      {"A", {0, 0, 0, 1}},
      {"Hz", {0, 0, -1}},
      {"N", {1, 1, -2}},
      {"Pa", {-1, 1, -2}},
      {"J", {2, 1, -2}},
      {"C", {0, 0, 1, 1}},
      {"V", {2, 1, -3, -1}},
      {"ohm", {2, 1, -3, -2}},
      {"S", {-2, -1, 3, 2}},
      {"F", {-2, -1, 4, 2}},
      {"H", {2, 1, -2, -2}},
      {"T", {0, 1, -2, -1}},
      {"rad", {}}};
  return units;
}

Unit parse_factor(std::string_view factor, std::string_view whole) {
  const auto caret = factor.find('^');
  const auto name = factor.substr(0, caret);
  const auto found = known_units().find(name);
  int exponent = 1;
  bool readable = found != known_units().end();
  if (caret != std::string_view::npos) {
    const auto digits = factor.substr(caret + 1);
    readable =
        readable && !digits.empty() && digits.size() <= 2 &&
        digits.find_first_not_of("0123456789", digits.front() == '-' ? 1 : 0) == std::string_view::npos &&
        digits != "-";
    if (readable) exponent = std::stoi(std::string(digits));
  }
  if (!readable) {
    throw UserError(fmt::format(
        "cannot read \"{}\" in the unit \"{}\"; known: 1, m, kg, s, A, Hz, N, Pa, J, C, V, ohm, S, "
        "F, H, T, rad, with / and ^",
        factor, whole));
  }
  return Unit{found->second}.power(exponent);
}

}  // namespace

Unit Unit::parse(std::string_view text) {
  Unit result;
  bool divide = false;
  std::size_t begin = 0;
  while (begin <= text.size()) {
    const auto end = std::min(text.find_first_of("/* ", begin), text.size());
    const Unit factor = parse_factor(text.substr(begin, end - begin), text);
    result = divide ? result / factor : result * factor;
    if (end == text.size()) break;
    divide = text[end] == '/';
    begin = end + 1;
  }
  return result;
}

std::string Unit::text() const {
  static constexpr std::array<const char*, base_units> names = {"m", "kg", "s", "A"};
  std::vector<std::string> above, below;
  for (const std::size_t i : {std::size_t{1}, std::size_t{0}, std::size_t{2}, std::size_t{3}}) {
    const int exponent = exponents[i];
    if (exponent == 0) continue;
    const int size = exponent < 0 ? -exponent : exponent;
    (exponent > 0 ? above : below).push_back(size == 1 ? names[i] : fmt::format("{}^{}", names[i], size));
  }
  const std::string top = above.empty() ? "1" : fmt::format("{}", fmt::join(above, " "));
  if (below.empty()) return top;
  const std::string bottom = fmt::format("{}", fmt::join(below, " "));
  return below.size() == 1 ? fmt::format("{}/{}", top, bottom) : fmt::format("{}/({})", top, bottom);
}

Unit Unit::power(int exponent) const {
  Unit result = *this;
  for (int& e : result.exponents) e *= exponent;
  return result;
}

std::optional<Unit> Unit::raised(double exponent) const {
  Unit result;
  for (std::size_t i = 0; i < exponents.size(); ++i) {
    const double e = exponents[i] * exponent;
    if (e != std::round(e)) return std::nullopt;
    result.exponents[i] = static_cast<int>(e);
  }
  return result;
}

Unit operator*(const Unit& a, const Unit& b) {
  Unit result = a;
  for (std::size_t i = 0; i < base_units; ++i) result.exponents[i] += b.exponents[i];
  return result;
}

Unit operator/(const Unit& a, const Unit& b) { return a * b.power(-1); }

}  // namespace ondula::ir
