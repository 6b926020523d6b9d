// hoist: what is computed once, and that nothing changes its value.
// SPDX-License-Identifier: MIT
#include "compiler/passes/hoist.hpp"

#include <doctest/doctest.h>

#include "compiler/passes/expand.hpp"
#include "tests/compiler/passes/stages.hpp"
#include "tests/compiler/passes/values.hpp"

namespace ondula::test {
namespace {

using ir::Expr;
using ir::Kind;

/// Every node below `e` satisfies `good`.
template <class F>
bool all_below(Expr e, const F& good) {
  if (!good(*e)) return false;
  for (const Expr arg : e->args) {
    if (!all_below(arg, good)) return false;
  }
  return true;
}

bool is_scalar_of(const ir::Program& program, const std::string& name) {
  for (const ir::Scalar& scalar : program.scalars) {
    if (scalar.name == name) return true;
  }
  return false;
}

}  // namespace

TEST_CASE("hoist: updates are left with scalars, coefficients, profiles and fields") {
  for_each_program([](const ir::Program& absorbed) {
    const ir::Program hoisted = passes::hoist(passes::expand(absorbed));
    for (const ir::Operation& operation : hoisted.operations) {
      const auto* update = std::get_if<ir::Update>(&operation);
      if (update == nullptr) continue;
      CHECK(all_below(update->value, [&](const ir::Node& e) {
        return e.kind != Kind::parameter && e.kind != Kind::average &&
               (e.kind != Kind::symbol || is_scalar_of(hoisted, e.name));
      }));
    }
    for (const ir::Coefficient& c : hoisted.coefficients) CHECK_FALSE(ir::time_dependent(c.definition));
    for (const ir::Scalar& s : hoisted.scalars) CHECK_FALSE(ir::contains(s.definition, Kind::parameter));
  });
}

TEST_CASE("hoist: every update keeps its value") {
  for_each_program([](const ir::Program& absorbed) {
    const ir::Program expanded = passes::expand(absorbed);
    const ir::Program hoisted = passes::hoist(expanded);
    Surroundings plain, with_names;
    with_names.program = &hoisted;
    REQUIRE(hoisted.operations.size() == expanded.operations.size());
    for (std::size_t i = 0; i < expanded.operations.size(); ++i) {
      const auto* before = std::get_if<ir::Update>(&expanded.operations[i]);
      if (before == nullptr) continue;
      const auto& after = std::get<ir::Update>(hoisted.operations[i]);
      CHECK(value(after.value, with_names) == doctest::Approx(value(before->value, plain)).epsilon(1e-12));
    }
  });
}

TEST_CASE("hoist: taps of opposite sign share a scalar, equal expressions a coefficient") {
  const ir::Program elastic = passes::hoist(passes::expand(absorbed_program(equations::elastic(), 2, 8)));
  // Four weights along each axis, over dt/h and, in the memory variables, over h alone.
  CHECK(elastic.scalars.size() <= 2 * 2 * 4 + 2);
  for (const ir::Scalar& scalar : elastic.scalars) {
    const Expr e = scalar.definition;
    const bool negative =
        e->kind == Kind::product && e->args[0]->kind == Kind::constant && e->args[0]->number.value() < 0;
    CHECK_FALSE(negative);
  }
  for (std::size_t i = 0; i < elastic.coefficients.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j)
      CHECK_FALSE(elastic.coefficients[i].definition == elastic.coefficients[j].definition);
  }
}

TEST_CASE("hoist: a mean off the node reads the hoisted reciprocal of the nodes around") {
  const std::string listing =
      ir::dump(passes::hoist(passes::expand(absorbed_program(equations::elastic(), 1, 2))));
  INFO(listing);
  CHECK(listing.find("= rho\n") != std::string::npos);
  CHECK(listing.find("= 2*dt\n") != std::string::npos);
  CHECK(listing.find("/(c0 + c0[1])") != std::string::npos);
}

}  // namespace ondula::test
