// Functions of parameters, and conditions on them: evaluated once per model, in double.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/dsl/tensor.hpp"

namespace ondula::dsl {

/// A comparison of parameters, or several of them combined.
class ONDULA_API Condition {
 public:
  explicit Condition(Tensor value) : value_(std::move(value)) {}
  /// 1 where it holds, else 0.
  const Tensor& value() const { return value_; }

 private:
  Tensor value_;
};

ONDULA_API Condition operator<(const Located& a, const Located& b);
ONDULA_API Condition operator<=(const Located& a, const Located& b);
ONDULA_API Condition operator>(const Located& a, const Located& b);
ONDULA_API Condition operator>=(const Located& a, const Located& b);
ONDULA_API Condition operator==(const Located& a, const Located& b);
ONDULA_API Condition operator!=(const Located& a, const Located& b);
ONDULA_API Condition operator!(const Condition& a);
ONDULA_API Condition operator&&(const Condition& a, const Condition& b);
ONDULA_API Condition operator||(const Condition& a, const Condition& b);

/// The square root, with half the exponents of the unit, which must be even. Its slope at 0 counts as 0.
ONDULA_API Tensor sqrt(const Located& a);
/// Of arguments without a unit; sin, cos and tan take radians.
ONDULA_API Tensor exp(const Located& a);
ONDULA_API Tensor log(const Located& a);
ONDULA_API Tensor sin(const Located& a);
ONDULA_API Tensor cos(const Located& a);
ONDULA_API Tensor tan(const Located& a);
ONDULA_API Tensor tanh(const Located& a);
/// The magnitude; its slope at 0 counts as 0.
ONDULA_API Tensor abs(const Located& a);
/// Of two scalars of one unit; where they are equal, the slope is the first one's.
ONDULA_API Tensor min(const Located& a, const Located& b);
ONDULA_API Tensor max(const Located& a, const Located& b);
/// a^exponent. Throws where the unit would have exponents that are no whole numbers.
ONDULA_API Tensor pow(const Located& a, double exponent);
/// a where the condition holds, else b; slopes are those of the one taken.
ONDULA_API Tensor where(const Condition& condition, const Located& a, const Located& b);

}  // namespace ondula::dsl
