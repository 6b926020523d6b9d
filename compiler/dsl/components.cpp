// Components, axes and derivatives along one axis.
// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "compiler/dsl/access.hpp"
#include "compiler/error.hpp"

namespace ondula::dsl {
namespace {

using ir::Expr;

Tensor along(const Located& scalar, const AxisName& axis, int order) {
  const char* name = order == 1 ? "d" : "d2";
  Author* author = Access::require(scalar, "a derivative");
  if (scalar.tensor.rank() != 0) {
    Access::fail(author, scalar.where,
                 fmt::format("{}() takes a scalar, found {}: take a component, such as v[\"{}\"]", name,
                             Access::rank_name(scalar.tensor), axis.name));
  }
  const int a = Access::axis(author, axis);
  const auto unit = per_metre(scalar.tensor.unit(), order);
  const Expr e = scalar.tensor.components()[0];
  ir::Pool& pool = Access::pool(author);
  if (a < 0 || ir::is_constant(e, 0)) return Access::make(author, 0, {pool.constant(0)}, unit);
  const int at = Access::stagger(author, e, a);
  if (at < 0) {
    Access::fail(author, scalar.where,
                 "differentiates an expression without a field; only fields are differentiated");
  }
  if (order == 2 && at != 0) {
    Access::fail(
        author, scalar.where,
        fmt::format("d2() of an expression that lives on half cells along {}: take d() of d()", axis.name));
  }
  return Access::make(author, 0, {pool.derivative(e, a, order, order == 1)}, unit);
}

}  // namespace

const char* Access::rank_name(const Tensor& t) {
  static constexpr std::array<const char*, 3> names = {"a scalar", "a vector", "a rank-2 tensor"};
  return names[static_cast<std::size_t>(t.rank())];
}

Author* Access::require(const Located& a, const char* what) {
  Author* found = author(a.tensor);
  if (found == nullptr) {
    throw UserError(fmt::format("{}:{}: {} of the plain number {}", a.where.file_name(), a.where.line(), what,
                                number(a.tensor)));
  }
  return found;
}

int Access::axis(Author* author, const AxisName& name) {
  const std::vector<std::string>& axes = equation(author).axes;
  const auto found = std::find(axes.begin(), axes.end(), name.name);
  if (found != axes.end()) return static_cast<int>(found - axes.begin());
  if (name.name == "x" || name.name == "y" || name.name == "z") return -1;
  fail(author, name.where, fmt::format("\"{}\" is no axis; there are x, y and z", name.name));
}

int Access::stagger(Author* author, Expr e, int axis) {
  if (e->kind == ir::Kind::field || e->kind == ir::Kind::source) {
    for (const ir::Field& field : equation(author).fields) {
      if (field.name == e->name) return field.stagger[static_cast<std::size_t>(axis)];
    }
  }
  if (e->kind == ir::Kind::derivative) {
    const int inner = stagger(author, e->args[0], axis);
    return e->staggered && e->axis == axis && inner >= 0 ? 1 - inner : inner;
  }
  for (const Expr arg : e->args) {
    const int found = stagger(author, arg, axis);
    if (found >= 0) return found;
  }
  return -1;
}

Tensor Tensor::operator[](const AxisName& axes) const {
  if (author_ == nullptr || rank_ == 0) {
    const std::string what =
        fmt::format("[\"{}\"] of a scalar: only vectors and tensors have components", axes.name);
    if (author_ != nullptr) Access::fail(author_, axes.where, what);
    throw UserError(fmt::format("{}:{}: {}", axes.where.file_name(), axes.where.line(), what));
  }
  if (axes.name.size() != static_cast<std::size_t>(rank_)) {
    Access::fail(author_, axes.where,
                 fmt::format("component \"{}\" of {}: it takes {}", axes.name, Access::rank_name(*this),
                             rank_ == 1 ? "one axis, such as \"x\"" : "two axes, such as \"xz\""));
  }
  const std::size_t d = Access::dims(author_);
  std::size_t place = 0;
  for (const char letter : axes.name) {
    const int axis = Access::axis(author_, {std::string(1, letter), axes.where});
    if (axis < 0) {
      Access::fail(author_, axes.where,
                   fmt::format("component \"{}\": there is no axis {} here, only {}; guard it: if "
                               "(has(\"{}\")) ...",
                               axes.name, letter, fmt::join(Access::equation(author_).axes, ", "), letter));
    }
    place = place * d + static_cast<std::size_t>(axis);
  }
  const Expr component = components_[place];
  return Access::make(author_, 0, {component}, unit_, field_.empty() ? "" : component->name);
}

Tensor d(const Located& scalar, const AxisName& axis) { return along(scalar, axis, 1); }
Tensor d2(const Located& scalar, const AxisName& axis) { return along(scalar, axis, 2); }

std::vector<std::string> Author::horizontal() const {
  std::vector<std::string> result = axes();
  std::erase(result, "z");
  return result;
}

bool Author::has(const AxisName& axis) const {
  return Access::axis(const_cast<Author*>(this), axis) >= 0;  // NOLINT: Access has one kind of author
}

}  // namespace ondula::dsl
