// Splitting products into a coefficient and the factor that varies in time.
// SPDX-License-Identifier: MIT
#include "compiler/passes/linear.hpp"

#include "compiler/error.hpp"

namespace ondula::passes {

using ir::Expr;
using ir::Kind;

Factored factored(ir::Pool& pool, Expr e) {
  if (!ir::time_dependent(e)) return {e, Expr{}};
  if (e->kind == Kind::product) {
    std::vector<Expr> coefficients;
    Expr dependent;
    for (const Expr factor : e->args) {
      const Factored part = factored(pool, factor);
      coefficients.push_back(part.coefficient);
      if (!part.dependent) continue;
      if (dependent) throw UserError("a product of two terms that vary in time: the equation must be linear");
      dependent = part.dependent;
    }
    return {pool.product(std::move(coefficients)), dependent};
  }
  if (e->kind == Kind::quotient) {
    if (ir::time_dependent(e->args[1]))
      throw UserError("a divisor that varies in time: the equation must be linear");
    const Factored above = factored(pool, e->args[0]);
    return {pool.quotient(above.coefficient, e->args[1]), above.dependent};
  }
  return {pool.constant(1), e};
}

ScaledCoefficient scaled(ir::Pool& pool, Expr coefficient) {
  if (!ir::contains(coefficient, Kind::parameter)) return {coefficient, Expr{}};
  if (coefficient->kind == Kind::product) {
    std::vector<Expr> scalars, nodal;
    for (const Expr factor : coefficient->args) {
      const ScaledCoefficient part = scaled(pool, factor);
      scalars.push_back(part.scalar);
      if (part.nodal) nodal.push_back(part.nodal);
    }
    return {pool.product(std::move(scalars)), pool.product(std::move(nodal))};
  }
  if (coefficient->kind == Kind::quotient) {
    const ScaledCoefficient above = scaled(pool, coefficient->args[0]);
    const ScaledCoefficient below = scaled(pool, coefficient->args[1]);
    const Expr one = pool.constant(1);
    Expr nodal = above.nodal ? above.nodal : one;
    if (below.nodal) nodal = pool.quotient(nodal, below.nodal);
    return {pool.quotient(above.scalar, below.scalar), nodal};
  }
  return {pool.constant(1), coefficient};
}

}  // namespace ondula::passes
