// plan_saves: the fewest arrays that the way back needs of every step.
// SPDX-License-Identifier: MIT
#include "compiler/passes/plan_saves.hpp"

#include <algorithm>

#include "compiler/error.hpp"
#include "compiler/passes/differentiate.hpp"
#include "tests/compiler/passes/stages.hpp"

namespace ondula::test {
namespace {

std::vector<std::string> saved(const EquationDefinition& equation, int dims, bool unscaled = false) {
  std::vector<std::string> names;
  for (const ir::Save& save : passes::differentiate(absorbed_program(equation, dims, 8), unscaled).saves)
    names.push_back(save.field);
  return names;
}

}  // namespace

EQUATION(damped_slopes, "a wave in velocity and pressure with a damping that varies") {
  auto c = parameter("c", "m/s", positive);
  auto k = parameter("k", "1/s", nonnegative);
  auto v = vector("v", "m/s");
  auto f = scalar("f", "m/s");
  evolve(dt(v) = c * grad(f) + force(v));
  evolve(dt(f) = c * div(v) - k * f + source(f));
}

TEST_CASE("saves: acoustic and variable density one array, elastic the velocities") {
  for (int dims = 1; dims <= 3; ++dims) {
    CAPTURE(dims);
    CHECK(saved(equations::acoustic(), dims).size() == 1);
    CHECK(saved(equations::acoustic_density(), dims) == std::vector<std::string>{"u"});
    std::vector<std::string> velocities;
    for (const std::string& axis : default_axes(dims)) velocities.push_back("v." + axis);
    std::vector<std::string> kept = saved(equations::elastic(), dims);
    std::sort(kept.begin(), kept.end());
    std::sort(velocities.begin(), velocities.end());
    CHECK(kept == velocities);
    CHECK(saved(equations::elastic(), dims, true).size() <= velocities.size() + 1);
  }
}

TEST_CASE("saves: the decisions count and name them") {
  const auto last = [](const EquationDefinition& equation) {
    return passes::differentiate(absorbed_program(equation, 2, 4)).decisions.back();
  };
  CHECK(last(equations::acoustic()) == "kept of each step: 1 array: the sum that dt*dt*vp*vp multiplies");
  CHECK(last(equations::elastic()) == "kept of each step: 2 arrays: v.x; v.z");
  CHECK(last(damped_slopes()).find("kept of each step: ") == 0);
}

TEST_CASE("saves: of the ways that keep as little, the one that computes least again") {
  const ir::Program program = absorbed_program(equations::acoustic(), 1, 2);
  passes::GradientTerm first, second;
  first.of = second.of = {"u"};
  first.coefficient = second.coefficient = program.pool->parameter("vp");
  first.pairs.resize(3);
  second.pairs.resize(1);
  first.fields = second.fields = {"u"};
  first.open = {passes::Supply::saved, passes::Supply::recomputed};
  second.open = {passes::Supply::recomputed};
  std::vector<passes::GradientTerm> terms = {first, second};
  // The second needs u anyhow: then the first costs no array if computed from it.
  const passes::SavePlan both = passes::plan_saves(program, terms);
  CHECK(both.fields == std::set<std::string>{"u"});
  CHECK(both.values.empty());
  CHECK(terms[0].supply == passes::Supply::recomputed);
  terms = {first};
  const passes::SavePlan one = passes::plan_saves(program, terms);
  CHECK(one.fields.empty());
  CHECK(one.values == std::vector<std::size_t>{0});
  terms[0].open.clear();
  CHECK_THROWS_WITH_AS(passes::plan_saves(program, terms),
                       doctest::Contains("no way is known to accumulate the gradient of vp"), UserError);
}

}  // namespace ondula::test
