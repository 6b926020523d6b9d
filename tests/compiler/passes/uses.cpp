// uses: every term of a step, as coefficient times atom.
// SPDX-License-Identifier: MIT
#include "compiler/passes/uses.hpp"

#include <fmt/format.h>

#include "compiler/error.hpp"
#include "compiler/passes/expand.hpp"
#include "tests/compiler/passes/stages.hpp"
#include "tests/compiler/passes/values.hpp"

namespace ondula::test {
namespace {

using ir::Expr;
using passes::Use;

/// The uses that add up to what `operation` computes, or to a derivative's operand.
std::vector<Use> terms_of(const std::vector<Use>& uses, std::size_t operation) {
  std::vector<Use> result;
  for (const Use& use : uses) {
    if (!use.parent && use.operation == operation) result.push_back(use);
  }
  return result;
}

std::string listing(const ir::Program& program, const std::vector<Use>& uses) {
  std::string text;
  for (const Use& use : uses) {
    if (use.parent || use.axis >= 0 || program.field(use.target).strip_axis >= 0) continue;
    text += fmt::format("{} <- {} * {}{}\n", use.target, ir::text(use.coefficient, program.axes),
                        ir::text(use.atom, program.axes), use.self ? " (self)" : "");
  }
  return text;
}

}  // namespace

TEST_CASE("uses: the terms of the plain acoustic and elastic updates") {
  const ir::Program acoustic = absorbed_program(equations::acoustic(), 1, 2);
  CHECK(listing(acoustic, passes::uses(acoustic)) ==
        "u <- 2 * u (self)\n"
        "u <- -1 * u` (self)\n"
        "u <- dt*dt*vp*vp * D2z(u)\n");
  const ir::Program elastic = absorbed_program(equations::elastic(), 1, 2);
  INFO(listing(elastic, passes::uses(elastic)));
  CHECK(listing(elastic, passes::uses(elastic)).find("v.z <- 1 * v.z (self)\n") != std::string::npos);
}

TEST_CASE("uses: their sum is the update's value") {
  for_each_program([](const ir::Program& program) {
    const std::vector<Use> uses = passes::uses(program);
    ir::Program rebuilt = program;
    for (std::size_t i = 0; i < program.operations.size(); ++i) {
      auto* update = std::get_if<ir::Update>(&rebuilt.operations[i]);
      if (update == nullptr || update->regions.at(0).kind == ir::RegionKind::apron) continue;
      std::vector<Expr> sum;
      for (const Use& use : terms_of(uses, i)) {
        std::vector<Expr> factors = use.profiles;
        factors.push_back(use.coefficient);
        factors.push_back(use.atom);
        sum.push_back(program.pool->product(std::move(factors)));
      }
      REQUIRE(!sum.empty());
      update->value = program.pool->sum(std::move(sum));
    }
    const ir::Program plain = passes::expand(program), other = passes::expand(rebuilt);
    REQUIRE(plain.operations.size() == other.operations.size());
    for (std::size_t i = 0; i < plain.operations.size(); ++i) {
      const auto* update = std::get_if<ir::Update>(&plain.operations[i]);
      if (update == nullptr) continue;
      const double expected = value(update->value, {});
      CHECK(value(std::get<ir::Update>(other.operations[i]).value, {}) ==
            doctest::Approx(expected).epsilon(1e-11));
    }
  });
}

TEST_CASE("uses: what is not linear in the fields is refused") {
  ir::Program program = absorbed_program(equations::acoustic(), 1, 2);
  const Expr u = program.pool->field("u", 0);
  for (const Expr value :
       {program.pool->product({u, u}), program.pool->sum({u, program.pool->parameter("vp")}),
        program.pool->quotient(program.pool->constant(1), u)}) {
    for (ir::Operation& operation : program.operations) {
      if (auto* update = std::get_if<ir::Update>(&operation); update != nullptr && update->field == "u") {
        update->value = value;
        break;
      }
    }
    CHECK_THROWS_WITH_AS(passes::uses(program),
                         doctest::Contains("is not linear in the fields: it has no adjoint"), UserError);
  }
}

}  // namespace ondula::test
