// The pool: equal expressions are one node, and the simplifications passes rely on.
// SPDX-License-Identifier: MIT
#include "compiler/ir/expr.hpp"

#include <doctest/doctest.h>

#include "compiler/error.hpp"

using namespace ondula::ir;

TEST_CASE("expr: equal expressions are one node") {
  Pool pool;
  const Expr u = pool.field("u", 0);
  CHECK(u == pool.field("u", 0));
  CHECK_FALSE(u == pool.field("u", 1));
  CHECK_FALSE(u == pool.field("u", 0, {0, 1, 0}));
  const std::size_t before = pool.size();
  const Expr once = pool.sum({u, pool.derivative(u, 1, 2, false)});
  const std::size_t after = pool.size();
  CHECK(once == pool.sum({u, pool.derivative(u, 1, 2, false)}));
  CHECK(after == before + 2);
  CHECK(pool.size() == after);
  CHECK_FALSE(pool.derivative(u, 0, 1, true) == pool.derivative(u, 0, 1, false));
}

TEST_CASE("expr: sums and products are flattened, constants folded") {
  Pool pool;
  const Expr a = pool.parameter("a"), b = pool.parameter("b");
  CHECK(text(pool.sum({a, pool.sum({pool.constant(2), b}), pool.constant(3)})) == "a + b + 5");
  CHECK(text(pool.product({a, pool.constant(2), pool.product({b, pool.constant(3)})})) == "6*a*b");
  CHECK(pool.sum({a, pool.constant(0)}) == a);
  CHECK(pool.product({pool.constant(1), a}) == a);
  CHECK(is_constant(pool.product({a, pool.constant(0)}), 0));
  CHECK(is_constant(pool.sum({}), 0));
  CHECK(is_constant(pool.product({}), 1));
}

TEST_CASE("expr: quotients of and by constants") {
  Pool pool;
  const Expr a = pool.parameter("a");
  CHECK(text(pool.quotient(a, pool.constant(4))) == "1/4*a");
  CHECK(pool.quotient(pool.constant(3), pool.constant(6))->number == Number::ratio(1, 2));
  CHECK(is_constant(pool.quotient(pool.constant(0), a), 0));
  CHECK_THROWS_AS(pool.quotient(a, pool.constant(0)), ondula::UserError);
}

TEST_CASE("expr: derivatives of 0 and averages of constants vanish") {
  Pool pool;
  CHECK(is_constant(pool.derivative(pool.constant(0), 0, 1, true), 0));
  CHECK(pool.average(pool.symbol("dt"), {1, 0, 0}) == pool.symbol("dt"));
  const Expr a = pool.parameter("a");
  CHECK(pool.average(a, {}) == a);
  CHECK(pool.average(a, {1, 0, 0})->kind == Kind::average);
}

TEST_CASE("expr: what varies in time") {
  Pool pool;
  const Expr u = pool.field("u", 0), a = pool.parameter("a");
  CHECK(time_dependent(pool.product({a, u})));
  CHECK(time_dependent(pool.source("u")));
  CHECK_FALSE(time_dependent(pool.product({a, pool.symbol("dt")})));
  CHECK(contains(pool.derivative(u, 0, 1, true), Kind::field));
}

TEST_CASE("expr: text shows levels, offsets and derivatives") {
  Pool pool;
  const std::vector<std::string> axes = {"z", "x"};
  CHECK(text(pool.field("u", 1), axes) == "u'");
  CHECK(text(pool.field("u", -1), axes) == "u`");
  CHECK(text(pool.field("u", 0, {2, -1, 0}), axes) == "u[1,-1/2]");
  CHECK(text(pool.derivative(pool.field("u", 0), 1, 1, true), axes) == "D1xs(u)");
  CHECK(text(pool.profile("a", 0, true), axes) == "a_z_half");
  CHECK(text(pool.average(pool.parameter("m"), {1, 1, 0}), axes) == "mean[1/2,1/2](m)");
}

TEST_CASE("expr: ids follow the order of creation") {
  const auto build = [](Pool& pool) {
    return pool.sum({pool.parameter("b"), pool.product({pool.symbol("dt"), pool.parameter("a")})});
  };
  Pool one, two;
  CHECK(build(one)->id == build(two)->id);
  CHECK(text(build(one)) == text(build(two)));
}
