// differentiate: the adjoint programs, as listed; determinism; what has none.
// SPDX-License-Identifier: MIT
#include "compiler/passes/differentiate.hpp"

#include "compiler/error.hpp"
#include "compiler/passes/pipeline.hpp"
#include "tests/compiler/passes/golden.hpp"
#include "tests/compiler/passes/stages.hpp"

namespace ondula::test {

EQUATION(inner_speed, "a parameter under a second derivative") {
  auto vp = parameter("vp", "m/s", positive);
  auto u = scalar("u", "Pa");
  evolve(dtt(u) = laplacian(sq(vp) * u));
}

TEST_CASE("differentiate: the adjoints of the three equations in 2-D are as listed") {
  for (const EquationDefinition& equation : equations::all()) {
    CAPTURE(equation.name());
    check_golden(equation.name() + "_2d_o4_adjoint",
                 ir::dump(passes::differentiate(absorbed_program(equation, 2, 4))));
  }
  check_golden("elastic_2d_o4_adjoint_unscaled",
               ir::dump(passes::differentiate(absorbed_program(equations::elastic(), 2, 4), true)));
}

TEST_CASE("F6: the same equation gives the same adjoint listing each time") {
  for (const EquationDefinition& equation : equations::all()) {
    const auto listing = [&] { return ir::dump(passes::differentiate(absorbed_program(equation, 3, 8))); };
    const std::string first = listing();
    for (int i = 0; i < 4; ++i) CHECK(listing() == first);
  }
}

TEST_CASE("differentiate: every adjoint keeps the invariants, and evolves the forward's fields alone") {
  for_each_program([](const ir::Program& program) {
    for (const bool unscaled : {false, true}) {
      const ir::Adjoint adjoint = passes::differentiate(program, unscaled);
      CHECK_NOTHROW(ir::verify(adjoint.program, "differentiate"));
      CHECK_NOTHROW(ir::verify(adjoint.forward, "differentiate"));
      std::size_t states = 0;
      for (const ir::Field& field : program.fields) states += field.strip_axis < 0 ? 1 : 0;
      CHECK(adjoint.variables.size() == states);
      CHECK(!adjoint.gradients.empty());
      // The forward program computes what it did, and what is kept.
      CHECK(adjoint.forward.operations.size() >= program.operations.size());
      for (const ir::Save& save : adjoint.saves) CHECK_NOTHROW(adjoint.program.field(save.name));
    }
  });
}

TEST_CASE("differentiate: an equation without an adjoint says why, and still models forward") {
  CHECK_NOTHROW(passes::compile(inner_speed(), {default_axes(2), 4, false, false}));
  CHECK_THROWS_WITH_AS(
      passes::compile_adjoint(inner_speed(), {default_axes(2), 4, false, false}),
      "equation inner_speed: a coefficient under a second or centred derivative has no gradient yet",
      UserError);
}

}  // namespace ondula::test
