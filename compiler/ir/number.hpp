// An exact rational where possible, a double where not: rounded to the working type once, last.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>

namespace ondula::ir {

/// A constant of an equation. Arithmetic stays exact until a numerator or denominator would pass 64 bits or
/// an operand is inexact; then it continues in double.
class Number {
 public:
  Number() = default;
  Number(std::int64_t value) : numerator_(value) {}  // NOLINT(google-explicit-constructor)
  Number(int value) : numerator_(value) {}           // NOLINT(google-explicit-constructor)
  /// A double; integers of magnitude below 2^53 become exact.
  Number(double value);  // NOLINT(google-explicit-constructor)
  /// numerator/denominator in lowest terms; throws InternalError on a zero denominator.
  static Number ratio(std::int64_t numerator, std::int64_t denominator);

  bool exact() const { return exact_; }
  std::int64_t numerator() const { return numerator_; }
  std::int64_t denominator() const { return denominator_; }
  double value() const;
  bool is(std::int64_t integer) const { return exact_ && denominator_ == 1 && numerator_ == integer; }
  /// "3", "-1/12", or the shortest decimal that reads back to the same double.
  std::string text() const;

  friend Number operator+(const Number& a, const Number& b);
  friend Number operator*(const Number& a, const Number& b);
  friend Number operator/(const Number& a, const Number& b);
  friend Number operator-(const Number& a) { return a * Number(-1); }
  friend bool operator==(const Number& a, const Number& b) = default;

 private:
  bool exact_ = true;
  std::int64_t numerator_ = 0;
  std::int64_t denominator_ = 1;
  double real_ = 0.0;  // 0 while exact, so that == compares what matters
};

}  // namespace ondula::ir
