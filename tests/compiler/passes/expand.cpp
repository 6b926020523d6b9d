// expand: what stencils differentiate, and how their taps are collected.
// SPDX-License-Identifier: MIT
#include "compiler/passes/expand.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <set>

#include "equations/equations.hpp"
#include "tests/compiler/passes/stages.hpp"
#include "tests/compiler/passes/values.hpp"

namespace ondula::test {
namespace {

using ir::Expr;
using ir::Kind;

/// The value of one derivative of u(x) = x^power at x = `where` cells of 1 m, after expand.
double derived(int order, int derivative, bool staggered, int power, double where) {
  ir::Program program;
  program.axes = {"z"};
  program.order = order;
  program.pool = std::make_shared<ir::Pool>();
  program.fields = {{.name = "u", .group = "u", .unit = "Pa", .time_order = 2},
                    {.name = "f", .group = "f", .unit = "Pa", .time_order = 2}};
  // A staggered derivative of u belongs to a field half a cell away.
  if (staggered) program.fields[1].stagger[0] = 1;
  const Expr e = program.pool->derivative(program.pool->field("u", 0), 0, derivative, staggered);
  program.operations = {ir::Update{"f", 1, e, false, {ir::Region{}}, {}}};
  const ir::Program expanded = passes::expand(program);
  Surroundings around;
  around.symbols["h_z"] = 1;
  around.field = [&](const ir::Node& node) { return std::pow(where + node.offset[0] / 2.0, power); };
  return value(std::get<ir::Update>(expanded.operations[0]).value, around);
}

/// No sum below `e` has two terms that read one access with weights of constants and spacings alone.
bool collected(Expr e) {
  if (e->kind == Kind::sum) {
    std::set<std::uint32_t> seen;
    for (const Expr term : e->args) {
      const Expr last = term->kind == Kind::product ? term->args.back() : term;
      if (ir::contains(term, Kind::average) || ir::contains(term, Kind::parameter)) continue;
      if (last->kind == Kind::field && !seen.insert(last->id).second) return false;
    }
  }
  for (const Expr arg : e->args) {
    if (!collected(arg)) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("expand: derivatives of powers up to the order are exact, plain and staggered") {
  for (int order = 2; order <= 16; order += 2) {
    for (int power = 0; power <= order; ++power) {
      CAPTURE(order);
      CAPTURE(power);
      const double x = 0.75;
      const double first = power == 0 ? 0 : power * std::pow(x, power - 1);
      const double second = power < 2 ? 0 : power * (power - 1) * std::pow(x, power - 2);
      // Powers of 8 cells away cancel down to numbers of size 1.
      const double rounding = 1e-15 * std::pow(order / 2 + 1.0, power) + 1e-14;
      CHECK(std::fabs(derived(order, 1, true, power, x) - first) < rounding);
      CHECK(std::fabs(derived(order, 1, false, power, x) - first) < rounding);
      CHECK(std::fabs(derived(order, 2, false, power, x) - second) < 4 * rounding);
    }
  }
}

TEST_CASE("expand: no derivative is left, and each sum reads a point once") {
  for_each_program([](const ir::Program& absorbed) {
    for (const ir::Operation& operation : passes::expand(absorbed).operations) {
      const auto* update = std::get_if<ir::Update>(&operation);
      if (update == nullptr) continue;
      CHECK_FALSE(ir::contains(update->value, Kind::derivative));
      CHECK(collected(update->value));
    }
  });
}

TEST_CASE("expand: weights are rationals over powers of the spacing") {
  const ir::Program expanded = passes::expand(absorbed_program(equations::acoustic(), 1, 4));
  const std::string listing = ir::dump(expanded);
  INFO(listing);
  CHECK(listing.find("-5/2") != std::string::npos);
  CHECK(listing.find("4/3") != std::string::npos);
  CHECK(listing.find("-1/12") != std::string::npos);
  CHECK(listing.find("h_z*h_z") != std::string::npos);
}

}  // namespace ondula::test
