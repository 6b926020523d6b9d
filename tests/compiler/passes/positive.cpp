// positive: which coefficients are known to vanish nowhere, or only without effect.
// SPDX-License-Identifier: MIT
#include "compiler/passes/positive.hpp"

#include "tests/compiler/passes/stages.hpp"

namespace ondula::test {

using ir::Expr;
using passes::Zeros;

TEST_CASE("zeros: of what the elastic equation's signs allow") {
  const ir::Program program = absorbed_program(equations::elastic(), 2, 2);
  ir::Pool& pool = *program.pool;
  const Expr vp = pool.parameter("vp"), vs = pool.parameter("vs"), rho = pool.parameter("rho"),
             dt = pool.symbol("dt"), one = pool.constant(1), mu = pool.product({rho, vs, vs}),
             minus = pool.constant(-2);
  const auto zeros = [&](Expr e) { return passes::zeros(program, e); };
  // Positive parameters, steps, their products, quotients, means and sums with what is 0 or more.
  for (const Expr e : {one, dt, vp, pool.product({dt, dt, vp, vp}), pool.quotient(dt, rho),
                       pool.quotient(vp, pool.product({rho, vp})), pool.average(rho, {1, 0, 0}),
                       pool.quotient(one, pool.average(rho, {1, 0, 0})), pool.sum({vp, mu}),
                       pool.surface({vp, rho}), pool.function("sqrt", {vp}), pool.function("exp", {vs})}) {
    CAPTURE(ir::text(e, program.axes));
    CHECK(zeros(e) == Zeros::positive);
  }
  // A nonnegative parameter's square.
  for (const Expr e : {mu, pool.product({dt, pool.constant(2), mu}), pool.average(mu, {1, 1, 0}),
                       pool.sum({mu, pool.product({vp, vs, vs})}), pool.surface({vp, mu})}) {
    CAPTURE(ir::text(e, program.axes));
    CHECK(zeros(e) == Zeros::flat);
  }
  // The parameter itself, what may be negative, what divides by what may be 0.
  for (const Expr e : {vs, pool.constant(0), pool.constant(-1), pool.sum({vp, pool.product({minus, mu})}),
                       pool.quotient(one, vs), pool.quotient(one, mu), pool.product({vp, vs}),
                       pool.function("sqrt", {vs}), pool.function("sin", {vp}), pool.surface({vp, vs})}) {
    CAPTURE(ir::text(e, program.axes));
    CHECK(zeros(e) == Zeros::unknown);
  }
}

TEST_CASE("zeros: terms that cancel are gone") {
  const ir::Program program = absorbed_program(equations::elastic(), 2, 2);
  ir::Pool& pool = *program.pool;
  const Expr vp = pool.parameter("vp"), vs = pool.parameter("vs"), rho = pool.parameter("rho");
  const Expr mu = pool.product({rho, vs, vs}), stiff = pool.product({rho, vp, vp});
  const Expr lambda = pool.sum({stiff, pool.product({pool.constant(-2), mu})});
  CHECK(passes::zeros(program, lambda) == Zeros::unknown);
  CHECK(passes::zeros(program, pool.sum({lambda, mu})) == Zeros::unknown);
  CHECK(passes::zeros(program, pool.sum({lambda, pool.product({pool.constant(2), mu})})) == Zeros::positive);
  CHECK(passes::zeros(program, pool.sum({lambda, pool.product({pool.constant(3), mu})})) == Zeros::positive);
  CHECK(passes::zeros(program, pool.sum({vp, pool.negate(vp)})) == Zeros::unknown);
}

}  // namespace ondula::test
