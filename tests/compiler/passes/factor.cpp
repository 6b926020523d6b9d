// factor: pairs, balanced trees, explicit fma.
// SPDX-License-Identifier: MIT
#include "compiler/passes/factor.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "compiler/passes/expand.hpp"
#include "compiler/passes/hoist.hpp"
#include "tests/compiler/passes/stages.hpp"
#include "tests/compiler/passes/values.hpp"

namespace ondula::test {
namespace {

using ir::Expr;
using ir::Kind;

int depth(Expr e) {
  int deepest = 0;
  for (const Expr arg : e->args) deepest = std::max(deepest, depth(arg));
  return e->kind == Kind::function && e->name != "neg" ? deepest + 1 : deepest;
}

int count(Expr e, const std::string& function) {
  int total = e->kind == Kind::function && e->name == function ? 1 : 0;
  for (const Expr arg : e->args) total += count(arg, function);
  return total;
}

bool binary(Expr e) {
  if (e->kind == Kind::sum || e->kind == Kind::product || e->kind == Kind::quotient) return false;
  return std::all_of(e->args.begin(), e->args.end(), binary);
}

}  // namespace

TEST_CASE("factor: symmetric taps are paired, a product beside a sum becomes fma") {
  ir::Pool pool;
  const Expr w0 = pool.symbol("w0"), w1 = pool.symbol("w1");
  const auto u = [&](int cells) { return pool.field("u", 0, {2 * cells, 0, 0}); };
  const Expr sum = pool.sum({pool.product({w0, u(0)}), pool.product({w1, u(1)}), pool.product({w1, u(-1)})});
  CHECK(ir::text(passes::factor(pool, sum), {"z"}) == "fma(w0, u, mul(w1, add(u[1], u[-1])))");
  const Expr difference = pool.sum({pool.product({w1, u(1)}), pool.product({pool.constant(-1), w1, u(-1)})});
  CHECK(ir::text(passes::factor(pool, difference), {"z"}) == "mul(w1, sub(u[1], u[-1]))");
}

TEST_CASE("factor: terms are added in a balanced tree") {
  ir::Pool pool;
  for (const int terms : {2, 3, 4, 7, 8, 16, 33}) {
    std::vector<Expr> all;
    for (int i = 0; i < terms; ++i) all.push_back(pool.field("u", 0, {2 * i, 0, 0}));
    const Expr tree = passes::factor(pool, pool.sum(all));
    CHECK(count(tree, "add") == terms - 1);
    int levels = 0;
    while ((1 << levels) < terms) ++levels;
    CHECK(depth(tree) == levels);
  }
}

TEST_CASE("factor: minus signs cost no operation of their own where a subtraction does") {
  ir::Pool pool;
  const Expr a = pool.field("a", 0), b = pool.field("b", 0), c = pool.field("c", 0);
  CHECK(ir::text(passes::factor(pool, pool.sum({a, pool.negate(b)}))) == "sub(a, b)");
  CHECK(ir::text(passes::factor(pool, pool.sum({pool.negate(a), b}))) == "sub(b, a)");
  CHECK(ir::text(passes::factor(pool, pool.sum({pool.negate(a), pool.negate(b)}))) == "neg(add(a, b))");
  const Expr both = pool.sum({pool.negate(pool.product({a, b})), c});
  CHECK(ir::text(passes::factor(pool, both)) == "fma(neg(a), b, c)");
}

TEST_CASE("factor: every update's tree has the value of its sum, and is built alike each time") {
  for_each_program([](const ir::Program& absorbed) {
    const ir::Program hoisted = passes::hoist(passes::expand(absorbed));
    Surroundings around;
    around.program = &hoisted;
    for (const ir::Operation& operation : hoisted.operations) {
      const auto* update = std::get_if<ir::Update>(&operation);
      if (update == nullptr) continue;
      const Expr tree = passes::factor(*hoisted.pool, update->value);
      CHECK(binary(tree));
      CHECK(value(tree, around) == doctest::Approx(value(update->value, around)).epsilon(1e-12));
      CHECK(passes::factor(*hoisted.pool, update->value) == tree);
    }
  });
}

}  // namespace ondula::test
