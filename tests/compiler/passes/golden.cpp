// The programs the passes make, compared with listings kept beside the tests. ONDULA_UPDATE_GOLDEN=1 writes
// the listings anew: read the difference before committing it. SPDX-License-Identifier: MIT
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "compiler/passes/absorb.hpp"
#include "compiler/passes/check.hpp"
#include "compiler/passes/discretize_time.hpp"
#include "compiler/passes/pipeline.hpp"
#include "compiler/passes/surface.hpp"
#include "equations/equations.hpp"
#include "tests/compiler/passes/golden.hpp"

namespace {

using namespace ondula;
using test::check_golden;

void check_program(const EquationDefinition& equation, int dims, int order) {
  const ir::Equation checked = passes::check(equation.instantiate(default_axes(dims)));
  const std::string name = fmt::format("{}_{}d_o{}", equation.name(), dims, order);
  const ir::Program discrete = passes::discretize_time(checked, order);
  check_golden(name + "_discretize_time", ir::dump(discrete));
  const ir::Program surfaced = passes::surface(discrete);
  if (ir::dump(surfaced) != ir::dump(discrete)) check_golden(name + "_surface", ir::dump(surfaced));
  check_golden(name + "_absorb", ir::dump(passes::absorb(surfaced, false)));
}

}  // namespace

TEST_CASE("passes: acoustic programs are as listed") {
  check_program(equations::acoustic(), 2, 4);
  check_program(equations::acoustic(), 3, 8);
}

TEST_CASE("passes: variable-density programs are as listed") {
  check_program(equations::acoustic_density(), 2, 4);
}

TEST_CASE("passes: elastic programs are as listed") { check_program(equations::elastic(), 2, 4); }

TEST_CASE("passes: hoisted program and kernels of the acoustic equation are as listed") {
  const passes::Compilation compilation =
      passes::compile(equations::acoustic(), {default_axes(2), 4, false, false});
  check_golden("acoustic_2d_o4_hoist", ir::dump(compilation.kernels.program));
  check_golden("acoustic_2d_o4_lower", ir::dump(compilation.kernels));
}

TEST_CASE("passes: materialized program and fused kernels of the elastic equation are as listed") {
  const passes::Compilation compilation =
      passes::compile(equations::elastic(), {default_axes(2), 4, false, false});
  check_golden("elastic_2d_o4_materialize", ir::dump(compilation.kernels.program));
  check_golden("elastic_2d_o4_lower", ir::dump(compilation.kernels));
}

TEST_CASE("passes: every equation keeps the invariants after each pass, in every dimension, also stretched") {
  for (const EquationDefinition& definition : equations::all()) {
    for (const int dims : {1, 2, 3}) {
      CAPTURE(definition.name());
      const ir::Equation checked = passes::check(definition.instantiate(default_axes(dims)));
      const ir::Program discrete = passes::discretize_time(checked, 8);
      CHECK_NOTHROW(ir::verify(discrete, "discretize_time"));
      for (const bool stretched : {false, true}) {
        const ir::Program absorbed = passes::absorb(passes::surface(discrete), stretched);
        CHECK_NOTHROW(ir::verify(absorbed, "absorb"));
        CHECK(absorbed.fields.size() > discrete.fields.size());
        // The plain updates stay as they are.
        CHECK(ir::dump(absorbed).find("sample") != std::string::npos);
      }
    }
  }
}

TEST_CASE("F6: the same equation gives the same listing each time") {
  for (const EquationDefinition& definition : equations::all()) {
    const auto listing = [&] {
      const ir::Equation checked = passes::check(definition.instantiate(default_axes(3)));
      return ir::dump(passes::absorb(passes::surface(passes::discretize_time(checked, 8)), true));
    };
    const std::string first = listing();
    for (int i = 0; i < 5; ++i) CHECK(listing() == first);
  }
}
