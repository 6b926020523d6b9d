// Functions of parameters: their checks of rank and unit, and what they become.
// SPDX-License-Identifier: MIT
#include "compiler/dsl/functions.hpp"

#include <fmt/format.h>

#include <cmath>

#include "compiler/dsl/access.hpp"
#include "compiler/error.hpp"
#include "compiler/ir/real_functions.hpp"

namespace ondula::dsl {
namespace {

using ir::Expr;
using ir::Unit;

/// A function takes scalars made of parameters and numbers.
void require_steady(Author* author, const Located& a, const std::string& name) {
  if (a.tensor.rank() != 0) {
    Access::fail(author, a.where,
                 fmt::format("{}() takes a scalar, found {}", name, Access::rank_name(a.tensor)));
  }
  if (ir::time_dependent(a.tensor.components()[0])) {
    Access::fail(
        author, a.where,
        fmt::format("{}() of a field: the equation would not be linear; functions take parameters", name));
  }
}

std::string unit_text(const Tensor& t) { return t.unit() ? t.unit()->text() : "1"; }

bool unitless(const Tensor& t) { return !t.unit() || *t.unit() == Unit{}; }

Tensor of_one(const Located& a, const char* name, const std::optional<Unit>& unit) {
  Author* author = Access::author(a.tensor);
  return Access::make(author, 0, {Access::pool(author).function(name, {a.tensor.components()[0]})}, unit);
}

/// A function of a pure number.
Tensor of_number(const Located& a, const char* name) {
  Author* author = Access::author(a.tensor);
  if (author == nullptr) return ir::real_function(name, 1).value(Access::number(a.tensor), 0);
  require_steady(author, a, name);
  if (!unitless(a.tensor)) {
    Access::fail(
        author, a.where,
        fmt::format(
            "{}() of [{}]: its argument has no unit{}", name, unit_text(a.tensor),
            std::string(name) == "exp" || std::string(name) == "log" ? "" : ", an angle is in radians"));
  }
  return of_one(a, name, Unit{});
}

Author* author_of(const Located& a, const Located& b) {
  Author* author = Access::author(a.tensor);
  return author != nullptr ? author : Access::author(b.tensor);
}

/// Both as scalars of one unit, in one pool; the unit is empty where either takes the other's (0).
struct Pair {
  Author* author = nullptr;
  Expr a, b;
  std::optional<Unit> unit;
};

Pair pair_of(const Located& a, const Located& b, Author* author, const std::string& name) {
  const Located left{Access::lifted(a.tensor, author), a.where};
  const Located right{Access::lifted(b.tensor, author), b.where};
  require_steady(author, left, name);
  require_steady(author, right, name);
  const auto& x = left.tensor.unit();
  const auto& y = right.tensor.unit();
  if (x && y && !(*x == *y)) {
    Access::fail(author, a.where,
                 fmt::format("{}() of [{}] and [{}]: they must have one unit", name, unit_text(left.tensor),
                             unit_text(right.tensor)));
  }
  return {author, left.tensor.components()[0], right.tensor.components()[0], x ? x : y};
}

Tensor of_two(const Located& a, const Located& b, const char* name) {
  Author* author = author_of(a, b);
  if (author == nullptr)
    return ir::real_function(name, 2).value(Access::number(a.tensor), Access::number(b.tensor));
  const Pair both = pair_of(a, b, author, name);
  return Access::make(author, 0, {Access::pool(author).function(name, {both.a, both.b})}, both.unit);
}

Condition compared(const Located& a, const Located& b, const char* name) {
  Author* author = author_of(a, b);
  if (author == nullptr)
    return Condition(ir::real_function(name, 2).value(Access::number(a.tensor), Access::number(b.tensor)));
  const Pair both = pair_of(a, b, author, "a comparison");
  return Condition(Access::make(author, 0, {Access::pool(author).function(name, {both.a, both.b})}, Unit{}));
}

/// x^n of a whole n, as products, so that what is known of x's sign is known of it.
Tensor whole_power(const Located& a, int n) {
  if (n < 0) return Located{1, a.where} / Located{whole_power(a, -n), a.where};
  Tensor result = 1;
  for (int k = 0; k < n; ++k) result = k == 0 ? a.tensor : Located{result, a.where} * a;
  return result;
}

}  // namespace

Condition operator<(const Located& a, const Located& b) { return compared(a, b, "less"); }
Condition operator<=(const Located& a, const Located& b) { return compared(a, b, "less_equal"); }
Condition operator>(const Located& a, const Located& b) { return compared(b, a, "less"); }
Condition operator>=(const Located& a, const Located& b) { return compared(b, a, "less_equal"); }
Condition operator==(const Located& a, const Located& b) { return a <= b && b <= a; }
Condition operator!=(const Located& a, const Located& b) { return !(a == b); }
Condition operator!(const Condition& a) { return Condition(1 - Located{a.value()}); }
Condition operator&&(const Condition& a, const Condition& b) {
  return Condition(Located{a.value()} * Located{b.value()});
}
Condition operator||(const Condition& a, const Condition& b) { return !(!a && !b); }

Tensor sqrt(const Located& a) {
  Author* author = Access::author(a.tensor);
  if (author == nullptr) return std::sqrt(Access::number(a.tensor));
  require_steady(author, a, "sqrt");
  const std::optional<Unit> unit = a.tensor.unit().value_or(Unit{}).raised(0.5);
  if (!unit) {
    Access::fail(author, a.where,
                 fmt::format("sqrt() of [{}]: the exponents of its unit must be even", unit_text(a.tensor)));
  }
  return of_one(a, "sqrt", unit);
}

Tensor exp(const Located& a) { return of_number(a, "exp"); }
Tensor log(const Located& a) { return of_number(a, "log"); }
Tensor sin(const Located& a) { return of_number(a, "sin"); }
Tensor cos(const Located& a) { return of_number(a, "cos"); }
Tensor tan(const Located& a) { return of_number(a, "tan"); }
Tensor tanh(const Located& a) { return of_number(a, "tanh"); }

Tensor abs(const Located& a) {
  Author* author = Access::author(a.tensor);
  if (author == nullptr) return std::fabs(Access::number(a.tensor));
  require_steady(author, a, "abs");
  return of_one(a, "abs", a.tensor.unit());
}

Tensor min(const Located& a, const Located& b) { return of_two(a, b, "min"); }
Tensor max(const Located& a, const Located& b) { return of_two(a, b, "max"); }

Tensor pow(const Located& a, double exponent) {
  Author* author = Access::author(a.tensor);
  if (author == nullptr) return std::pow(Access::number(a.tensor), exponent);
  require_steady(author, a, "pow");
  constexpr double most = 16;
  if (!std::isfinite(exponent)) Access::fail(author, a.where, fmt::format("pow() to the {}", exponent));
  if (exponent == std::round(exponent) && std::fabs(exponent) <= most)
    return whole_power(a, static_cast<int>(exponent));
  const std::optional<Unit> unit = a.tensor.unit().value_or(Unit{}).raised(exponent);
  if (!unit) {
    Access::fail(
        author, a.where,
        fmt::format("pow() of [{}] to the {}: its unit would have exponents that are no whole numbers",
                    unit_text(a.tensor), exponent));
  }
  ir::Pool& pool = Access::pool(author);
  const Expr power = pool.function("pow", {a.tensor.components()[0], pool.constant(ir::Number(exponent))});
  return Access::make(author, 0, {power}, unit);
}

Tensor where(const Condition& condition, const Located& a, const Located& b) {
  Author* author = Access::author(condition.value());
  if (author == nullptr) return Access::number(condition.value()) != 0 ? a.tensor : b.tensor;
  const Pair both = pair_of(a, b, author, "where");
  const Expr c = condition.value().components()[0];
  return Access::make(author, 0, {Access::pool(author).function("where", {c, both.a, both.b})}, both.unit);
}

}  // namespace ondula::dsl
