// How the DSL's operators reach into tensors and their author: internal to compiler/dsl.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/dsl/tensor.hpp"

namespace ondula::dsl {

/// The one place that may look inside a Tensor.
struct Access {
  static Author* author(const Tensor& t) { return t.author_; }
  static double number(const Tensor& t) { return t.number_; }
  static ir::Pool& pool(Author* author) { return *author->equation_.pool; }
  static ir::Equation& equation(Author* author) { return author->equation_; }
  static std::size_t dims(Author* author) { return author->equation_.axes.size(); }
  /// The author of an expression; where it is a plain number, an error that names `what`.
  static Author* require(const Located& a, const char* what);
  /// Which of the instantiation's axes `name` is; -1 for x, y or z that it lacks. Throws UserError otherwise.
  static int axis(Author* author, const AxisName& name);
  /// The half cell along `axis` that `e` carries: 0, 1, or -1 if nothing in it is tied to a grid.
  static int stagger(Author* author, ir::Expr e, int axis);
  static const char* rank_name(const Tensor& t);
  [[noreturn]] static void fail(Author* author, const std::source_location& where, const std::string& what);

  static Tensor make(Author* author, int rank, std::vector<ir::Expr> components, std::optional<ir::Unit> unit,
                     std::string field = "");
  /// The tensor with expressions in `author`'s pool, also where it is a plain number.
  static Tensor lifted(const Tensor& t, Author* author);
};

/// The author of a tensor; throws UserError for a plain number: "`what` of the plain number 3".
Author* require_author(const Located& a, const char* what);
/// The staggered derivative of `e`, a part of `of`.
ir::Expr first_derivative(Author* author, const Located& of, ir::Expr e, int axis);
std::optional<ir::Unit> per_metre(const std::optional<ir::Unit>& unit, int power);
/// Refuses an axial vector where there are no curls.
void require_curls(Author* author, const std::string& name, const std::source_location& where);
/// Refuses dt(u) on a right side where it has no meaning.
void require_rates(Author* author, const EvolutionStatement& statement);

}  // namespace ondula::dsl
