// Splitting products into a coefficient and the factor that varies in time: shared by the passes.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/ir/expr.hpp"

namespace ondula::passes {

/// e = coefficient * dependent, the coefficient independent of time; `dependent` is null if all of e is.
struct Factored {
  ir::Expr coefficient;
  ir::Expr dependent;
};

/// Walks products and quotients only. Throws UserError("... nonlinear ...") where two factors vary in time.
Factored factored(ir::Pool& pool, ir::Expr e);

/// A coefficient as scalar * nodal: the scalar of constants and symbols only, the rest with the parameters.
struct ScaledCoefficient {
  ir::Expr scalar;
  ir::Expr nodal;  ///< null if there are no parameters
};
ScaledCoefficient scaled(ir::Pool& pool, ir::Expr coefficient);

/// `e` with every node for which `replace` returns a non-null expression replaced, bottom-up through sums,
/// products, quotients, functions, averages, surface values and derivatives.
template <class F>
ir::Expr rewrite(ir::Pool& pool, ir::Expr e, const F& replace) {
  if (const ir::Expr direct = replace(e)) return direct;
  if (e->args.empty()) return e;
  std::vector<ir::Expr> args;
  args.reserve(e->args.size());
  for (const ir::Expr arg : e->args) args.push_back(rewrite(pool, arg, replace));
  switch (e->kind) {
    case ir::Kind::sum:
      return pool.sum(std::move(args));
    case ir::Kind::product:
      return pool.product(std::move(args));
    case ir::Kind::quotient:
      return pool.quotient(args[0], args[1]);
    case ir::Kind::derivative:
      return pool.derivative(args[0], e->axis, e->order, e->staggered);
    case ir::Kind::average:
      return pool.average(args[0], e->offset);
    case ir::Kind::surface:
      return pool.surface(std::move(args));
    default:
      return pool.function(e->name, std::move(args));
  }
}

}  // namespace ondula::passes
