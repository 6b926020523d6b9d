// Rational arithmetic with a double to fall back on.
// SPDX-License-Identifier: MIT
#include "compiler/ir/number.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "compiler/error.hpp"

namespace ondula::ir {
namespace {

__extension__ typedef __int128 Wide;  // NOLINT(modernize-use-using): only a typedef can carry __extension__

bool fits(Wide value) {
  return value >= std::numeric_limits<std::int64_t>::min() + 1 &&
         value <= std::numeric_limits<std::int64_t>::max();
}

Wide gcd(Wide a, Wide b) {
  a = a < 0 ? -a : a;
  b = b < 0 ? -b : b;
  while (b != 0) {
    const Wide rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

Number reduced(Wide numerator, Wide denominator, double fallback) {
  const Wide divisor = gcd(numerator, denominator);
  if (divisor != 0) {
    numerator /= divisor;
    denominator /= divisor;
  }
  if (denominator < 0) {
    numerator = -numerator;
    denominator = -denominator;
  }
  if (!fits(numerator) || !fits(denominator)) return Number(fallback);
  return Number::ratio(static_cast<std::int64_t>(numerator), static_cast<std::int64_t>(denominator));
}

}  // namespace

Number::Number(double value) {
  constexpr double exact_limit = 9007199254740992.0;  // 2^53
  if (std::nearbyint(value) == value && std::fabs(value) < exact_limit) {
    numerator_ = static_cast<std::int64_t>(value);
  } else {
    exact_ = false;
    real_ = value;
  }
}

Number Number::ratio(std::int64_t numerator, std::int64_t denominator) {
  if (denominator == 0) throw InternalError("a constant with denominator 0");
  const std::int64_t divisor = std::gcd(numerator, denominator);
  Number result;
  const std::int64_t sign = denominator < 0 ? -1 : 1;
  result.numerator_ = sign * numerator / divisor;
  result.denominator_ = sign * denominator / divisor;
  return result;
}

double Number::value() const {
  return exact_ ? static_cast<double>(numerator_) / static_cast<double>(denominator_) : real_;
}

std::string Number::text() const {
  if (!exact_) return fmt::format("{}", real_);
  if (denominator_ == 1) return fmt::format("{}", numerator_);
  return fmt::format("{}/{}", numerator_, denominator_);
}

Number operator+(const Number& a, const Number& b) {
  const double sum = a.value() + b.value();
  if (!a.exact_ || !b.exact_) return Number(sum);
  const Wide left = static_cast<Wide>(a.numerator_) * b.denominator_;
  const Wide right = static_cast<Wide>(b.numerator_) * a.denominator_;
  return reduced(left + right, static_cast<Wide>(a.denominator_) * b.denominator_, sum);
}

Number operator*(const Number& a, const Number& b) {
  const double product = a.value() * b.value();
  if (!a.exact_ || !b.exact_) return Number(product);
  return reduced(static_cast<Wide>(a.numerator_) * b.numerator_,
                 static_cast<Wide>(a.denominator_) * b.denominator_, product);
}

Number operator/(const Number& a, const Number& b) {
  const double quotient = a.value() / b.value();
  if (!a.exact_ || !b.exact_ || b.numerator_ == 0) return Number(quotient);
  return reduced(static_cast<Wide>(a.numerator_) * b.denominator_,
                 static_cast<Wide>(a.denominator_) * b.numerator_, quotient);
}

}  // namespace ondula::ir
