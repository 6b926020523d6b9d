// The built-in equations as their users see them: names, units, sources, in every dimension.
// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "compiler/error.hpp"
#include "compiler/ir/unit.hpp"
#include "compiler/passes/pipeline.hpp"
#include "equations/equations.hpp"
#include "runtime/propagator.hpp"

namespace ondula::test {
namespace {

using Names = std::vector<std::string>;

EquationFacts facts_of(const EquationDefinition& equation, int dims) {
  return facts(equation, default_axes(dims));
}

}  // namespace

TEST_CASE("equations: a wrong name lists those that exist") {
  CHECK(equations::find("elastic").name() == "elastic");
  CHECK_THROWS_WITH_AS(equations::find("acustic"),
                       doctest::Contains("equation \"acustic\" is not known; there are: acoustic, "
                                         "acoustic_density, elastic"),
                       UserError);
}

TEST_CASE("equations: parameters, fields, sources and units are as documented") {
  const EquationFacts acoustic = facts_of(equations::acoustic(), 3);
  CHECK(acoustic.parameters == Names{"vp"});
  CHECK(acoustic.fields == Names{"u"});
  CHECK(acoustic.sources == Names{"u"});
  CHECK(acoustic.initial == Names{"u", "u.previous"});
  CHECK(acoustic.units.at("vp") == "m/s");
  CHECK(acoustic.units.at("u") == "Pa");
  const EquationFacts density = facts_of(equations::acoustic_density(), 2);
  CHECK(density.parameters == Names{"vp", "rho"});
  CHECK(density.units.at("rho") == "kg/m^3");
  const EquationFacts elastic = facts_of(equations::elastic(), 2);
  CHECK(elastic.parameters == Names{"vp", "vs", "rho"});
  CHECK(elastic.fields == Names{"v.z", "v.x", "s.zz", "s.zx", "s.xx"});
  CHECK(elastic.sources == elastic.fields);
  CHECK(elastic.initial == elastic.fields);
  CHECK(elastic.units.at("v.x") == "m/s");
  CHECK(elastic.units.at("s.zx") == "Pa");
}

TEST_CASE("equations: every unit can be read, every name differs, every description says something") {
  std::set<std::string> names;
  for (const EquationDefinition& equation : equations::all()) {
    CAPTURE(equation.name());
    CHECK(names.insert(equation.name()).second);
    CHECK(equation.description().size() > 20);
    for (int dims = 1; dims <= 3; ++dims) {
      for (const auto& [name, unit] : facts_of(equation, dims).units) CHECK_NOTHROW(ir::Unit::parse(unit));
    }
  }
}

TEST_CASE("equations: the author's own file and line stand in every evolution") {
  for (const EquationDefinition& equation : equations::all()) {
    for (const ir::Evolution& evolution : equation.instantiate(default_axes(3)).evolutions) {
      const std::string at = evolution.location.short_text();
      CAPTURE(at);
      CHECK((at.starts_with("acoustic.cpp:") || at.starts_with("elastic.cpp:")));
      CHECK(evolution.location.line > 10);
    }
  }
}

TEST_CASE("A2: every equation compiles at every even order to 16 in every dimension, and at no other") {
  for (const EquationDefinition& equation : equations::all()) {
    for (int dims = 1; dims <= 3; ++dims) {
      CAPTURE(equation.name());
      CAPTURE(dims);
      for (const int order : {2, 6, 16}) {
        const passes::Compilation compilation =
            passes::compile(equation, {default_axes(dims), order, false, false});
        CHECK_FALSE(compilation.kernels.kernels.empty());
      }
      for (const int order : {0, 3, 18, 32}) {
        CHECK_THROWS_WITH_AS(passes::compile(equation, {default_axes(dims), order, false, false}),
                             doctest::Contains("supported are 2, 4, 6, 8, 10, 12, 14 and 16"), UserError);
      }
    }
  }
}

}  // namespace ondula::test
