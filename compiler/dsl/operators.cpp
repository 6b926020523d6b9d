// The algebra and calculus of the DSL, with its checks of rank and unit.
// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include "compiler/dsl/access.hpp"
#include "compiler/error.hpp"

namespace ondula::dsl {
namespace {

using ir::Expr;
using ir::Unit;

const char* rank_name(const Tensor& t) { return Access::rank_name(t); }

Author* common_author(const Located& a, const Located& b) {
  Author* left = Access::author(a.tensor);
  Author* right = Access::author(b.tensor);
  return left != nullptr ? left : right;
}

}  // namespace

Author* require_author(const Located& a, const char* what) { return Access::require(a, what); }

namespace {

Author* require_rank_2(const Located& a, const char* what, const char* name) {
  Author* author = require_author(a, what);
  if (a.tensor.rank() != 2)
    Access::fail(author, a.where,
                 fmt::format("{}() takes a rank-2 tensor, found {}", name, rank_name(a.tensor)));
  return author;
}

std::optional<Unit> sum_unit(Author* author, const Located& a, const Located& b) {
  const auto& left = a.tensor.unit();
  const auto& right = b.tensor.unit();
  if (left && right && !(*left == *right)) {
    Access::fail(
        author, a.where,
        fmt::format("adds [{}] to [{}]: terms of a sum must have one unit", right->text(), left->text()));
  }
  return left ? left : right;
}

Tensor combine(const Located& a, const Located& b, int sign) {
  Author* author = common_author(a, b);
  if (author == nullptr) return Access::number(a.tensor) + sign * Access::number(b.tensor);
  const Tensor left = Access::lifted(a.tensor, author);
  const Tensor right = Access::lifted(b.tensor, author);
  if (left.rank() != right.rank()) {
    Access::fail(author, a.where, fmt::format("adds {} to {}", rank_name(right), rank_name(left)));
  }
  const auto unit = sum_unit(author, {left, a.where}, {right, b.where});
  ir::Pool& pool = Access::pool(author);
  std::vector<Expr> components;
  for (std::size_t i = 0; i < left.components().size(); ++i) {
    const Expr term = right.components()[i];
    components.push_back(pool.sum({left.components()[i], sign < 0 ? pool.negate(term) : term}));
  }
  return Access::make(author, left.rank(), std::move(components), unit);
}

}  // namespace

Expr first_derivative(Author* author, const Located& of, Expr e, int axis) {
  if (ir::is_constant(e, 0)) return e;
  if (Access::stagger(author, e, axis) < 0) {
    Access::fail(author, of.where,
                 "differentiates an expression without a field; only fields are differentiated");
  }
  return Access::pool(author).derivative(e, axis, 1, true);
}

std::optional<Unit> per_metre(const std::optional<Unit>& unit, int power) {
  const Unit metre{{1, 0, 0}};
  if (!unit) return std::nullopt;
  return *unit / metre.power(power);
}

namespace {

constexpr std::array<const char*, 3> rank_names = {"a scalar", "a vector", "a rank-2 tensor"};

Tensor source_term(const Located& field, int rank, const char* name) {
  Author* author = require_author(field, name);
  if (field.tensor.field().empty()) {
    Access::fail(author, field.where, fmt::format("{}() takes a field, found an expression", name));
  }
  if (rank >= 0 && field.tensor.rank() != rank) {
    Access::fail(author, field.where,
                 fmt::format("{}({}) takes {}, found {}", name, field.tensor.field(),
                             rank_names[static_cast<std::size_t>(rank)], rank_name(field.tensor)));
  }
  std::vector<Expr> components;
  for (const Expr e : field.tensor.components()) components.push_back(Access::pool(author).source(e->name));
  return Access::make(author, field.tensor.rank(), std::move(components), std::nullopt);
}

}  // namespace

TimeDerivative dt(const Located& field) { return {field.tensor, 1, field.where}; }
TimeDerivative dtt(const Located& field) { return {field.tensor, 2, field.where}; }

Tensor operator+(const Located& a, const Located& b) { return combine(a, b, 1); }
Tensor operator-(const Located& a, const Located& b) { return combine(a, b, -1); }
Tensor operator-(const Located& a) { return Located(-1.0, a.where) * a; }

Tensor operator*(const Located& a, const Located& b) {
  Author* author = common_author(a, b);
  if (author == nullptr) return Access::number(a.tensor) * Access::number(b.tensor);
  const Tensor left = Access::lifted(a.tensor, author);
  const Tensor right = Access::lifted(b.tensor, author);
  if (left.rank() != 0 && right.rank() != 0) {
    Access::fail(
        author, a.where,
        fmt::format("multiplies {} by {}: one factor must be a scalar", rank_name(left), rank_name(right)));
  }
  const Tensor& shape = left.rank() != 0 ? left : right;
  const Tensor& factor = left.rank() != 0 ? right : left;
  std::vector<Expr> components;
  for (const Expr e : shape.components()) {
    components.push_back(&factor == &left ? Access::pool(author).product({factor.components()[0], e})
                                          : Access::pool(author).product({e, factor.components()[0]}));
  }
  std::optional<Unit> unit;
  if (left.unit() && right.unit()) unit = *left.unit() * *right.unit();
  return Access::make(author, shape.rank(), std::move(components), unit);
}

Tensor operator/(const Located& a, const Located& b) {
  Author* author = common_author(a, b);
  if (author == nullptr) {
    if (Access::number(b.tensor) == 0) {
      throw UserError(fmt::format("{}:{}: divides by 0", a.where.file_name(), a.where.line()));
    }
    return Access::number(a.tensor) / Access::number(b.tensor);
  }
  const Tensor left = Access::lifted(a.tensor, author);
  const Tensor right = Access::lifted(b.tensor, author);
  if (right.rank() != 0) {
    Access::fail(author, a.where, fmt::format("divides by {}: a divisor must be a scalar", rank_name(right)));
  }
  if (ir::is_constant(right.components()[0], 0)) Access::fail(author, a.where, "divides by 0");
  if (ir::contains(right.components()[0], ir::Kind::field)) {
    Access::fail(author, a.where, "divides by a field: the equation would not be linear");
  }
  std::vector<Expr> components;
  for (const Expr e : left.components()) {
    components.push_back(Access::pool(author).quotient(e, right.components()[0]));
  }
  std::optional<Unit> unit;
  if (left.unit() && right.unit()) unit = *left.unit() / *right.unit();
  return Access::make(author, left.rank(), std::move(components), unit);
}

Tensor sq(const Located& a) { return a * a; }

Tensor laplacian(const Located& scalar) {
  Author* author = require_author(scalar, "the Laplacian");
  if (scalar.tensor.rank() != 0) {
    Access::fail(author, scalar.where,
                 fmt::format("laplacian() takes a scalar, found {}", rank_name(scalar.tensor)));
  }
  const Expr e = scalar.tensor.components()[0];
  std::vector<Expr> terms;
  for (std::size_t axis = 0; axis < Access::dims(author); ++axis) {
    const int at = Access::stagger(author, e, static_cast<int>(axis));
    if (at != 0) {
      Access::fail(author, scalar.where,
                   at < 0 ? "laplacian() of an expression without a field"
                          : "laplacian() of an expression that lives on half cells");
    }
    terms.push_back(Access::pool(author).derivative(e, static_cast<int>(axis), 2, false));
  }
  return Access::make(author, 0, {Access::pool(author).sum(std::move(terms))},
                      per_metre(scalar.tensor.unit(), 2));
}

Tensor grad(const Located& tensor) {
  Author* author = require_author(tensor, "the gradient");
  if (tensor.tensor.rank() > 1)
    Access::fail(author, tensor.where, "grad() takes a scalar or a vector, found a rank-2 tensor");
  std::vector<Expr> components;
  for (const Expr e : tensor.tensor.components()) {
    for (std::size_t axis = 0; axis < Access::dims(author); ++axis) {
      components.push_back(first_derivative(author, tensor, e, static_cast<int>(axis)));
    }
  }
  return Access::make(author, tensor.tensor.rank() + 1, std::move(components),
                      per_metre(tensor.tensor.unit(), 1));
}

Tensor div(const Located& tensor) {
  Author* author = require_author(tensor, "the divergence");
  if (tensor.tensor.rank() == 0)
    Access::fail(author, tensor.where, "div() takes a vector or a tensor, found a scalar");
  const std::size_t d = Access::dims(author);
  const auto& in = tensor.tensor.components();
  std::vector<Expr> components;
  for (std::size_t row = 0; row < in.size() / d; ++row) {
    std::vector<Expr> terms;
    for (std::size_t axis = 0; axis < d; ++axis) {
      terms.push_back(first_derivative(author, tensor, in[row * d + axis], static_cast<int>(axis)));
    }
    components.push_back(Access::pool(author).sum(std::move(terms)));
  }
  return Access::make(author, tensor.tensor.rank() - 1, std::move(components),
                      per_metre(tensor.tensor.unit(), 1));
}

Tensor trace(const Located& tensor) {
  Author* author = require_rank_2(tensor, "the trace", "trace");
  const std::size_t d = Access::dims(author);
  std::vector<Expr> terms;
  for (std::size_t i = 0; i < d; ++i) terms.push_back(tensor.tensor.components()[i * d + i]);
  return Access::make(author, 0, {Access::pool(author).sum(std::move(terms))}, tensor.tensor.unit());
}

Tensor sym(const Located& tensor) {
  Author* author = require_rank_2(tensor, "the symmetric part", "sym");
  const std::size_t d = Access::dims(author);
  const auto& in = tensor.tensor.components();
  ir::Pool& pool = Access::pool(author);
  std::vector<Expr> components;
  for (std::size_t i = 0; i < d; ++i) {
    for (std::size_t j = 0; j < d; ++j) {
      // In one order for (i, j) and (j, i), so that both are the same node.
      const Expr both =
          pool.sum({in[std::min(i, j) * d + std::max(i, j)], in[std::max(i, j) * d + std::min(i, j)]});
      components.push_back(i == j ? in[i * d + i]
                                  : pool.product({pool.constant(ir::Number::ratio(1, 2)), both}));
    }
  }
  return Access::make(author, 2, std::move(components), tensor.tensor.unit());
}

Tensor source(const Located& field) { return source_term(field, 0, "source"); }
Tensor force(const Located& field) { return source_term(field, 1, "force"); }
Tensor moment_rate(const Located& field) { return source_term(field, 2, "moment_rate"); }

}  // namespace ondula::dsl
