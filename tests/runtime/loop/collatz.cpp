// The Collatz bound: exact where the limit is known, safe and sharp where it is not.
// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <cmath>
#include <numeric>

#include "compiler/passes/pipeline.hpp"
#include "compiler/passes/stencil.hpp"
#include "runtime/domain.hpp"
#include "runtime/stability.hpp"
#include "tests/support/compare.hpp"
#include "tests/verification/setup.hpp"

using namespace ondula;
using namespace ondula::test;

namespace {

double staggered_sum(int order) {
  double sum = 0;
  for (const ir::Number& weight : passes::staggered(order)) sum += std::fabs(weight.value());
  return sum;
}

Limits limits_of(const EquationDefinition& equation, const Grid& g, int order, const loop::Models& models) {
  const auto compiled = passes::compile(equation, {g.axes, order, false, false});
  return limits(compiled.physical, make_domain(g, order), models, 2);
}

loop::Models solid(double vp, double vs, double rho) {
  return {{"vp", loop::ModelArray(vp)}, {"vs", loop::ModelArray(vs)}, {"rho", loop::ModelArray(rho)}};
}

/// The first `rows` nodes along z of one medium, the rest of another.
loop::ModelArray layered(const Grid& g, std::int64_t rows, double above, double below) {
  return loop::ModelArray(
      on_nodes(g, [&](const std::vector<std::int64_t>& i) { return i[0] < rows ? above : below; }));
}

/// The largest magnitude of all fields after `steps` steps from a random state, `substeps` 1, at `share` of
/// the limit.
double grown(const EquationDefinition& equation, const Grid& g, int order, std::int64_t steps, double share,
             const std::vector<std::pair<std::string, std::vector<double>>>& models,
             const std::vector<std::string>& started) {
  PropagatorOptions o = options(1, steps, order);
  Propagator probe(equation, g, o);
  for (const auto& [name, values] : models) probe.set_model(name, values);
  o.dt = share * probe.estimate({}).cfl_limit;
  Propagator run(equation, g, o);
  for (const auto& [name, values] : models) run.set_model(name, values);
  Random random(7);
  for (const std::string& field : started) {
    run.set_initial(field, on_nodes(g, [&](const std::vector<std::int64_t>&) { return random.normal(); }));
  }
  const Shot silent;
  run.forward({&silent, 1});
  double largest = 0;
  for (const auto& [name, values] : run.state().fields()) {
    if (name[0] == started[0][0]) largest = std::max(largest, max_abs(values));
  }
  return largest;
}

}  // namespace

TEST_CASE("Homogeneous limits are the closed forms: h/(c sqrt(d) sum|c_m|) for staggered systems") {
  for (int dims = 1; dims <= 3; ++dims) {
    for (const int order : {2, 4, 8, 16}) {
      CAPTURE(dims);
      CAPTURE(order);
      const Grid g =
          grid(std::vector<std::int64_t>(static_cast<std::size_t>(dims), 12), 10, {FaceKind::absorbing, 5});
      const double exact = 10 / (3000 * std::sqrt(dims) * staggered_sum(order));
      const Limits elastic = limits_of(equations::elastic(), g, order, solid(3000, 1700, 2200));
      CHECK(elastic.step == doctest::Approx(exact).epsilon(1e-5));
      CHECK(elastic.speeds.fastest == doctest::Approx(3000));
      CHECK(elastic.speeds.slowest == doctest::Approx(dims == 1 ? 3000 : 1700));
      const Limits dense = limits_of(equations::acoustic_density(), g, order,
                                     {{"vp", loop::ModelArray(3000)}, {"rho", loop::ModelArray(1800)}});
      CHECK(dense.step == doctest::Approx(exact).epsilon(1e-5));
      CHECK(dense.speeds.slowest == doctest::Approx(3000));
    }
  }
}

TEST_CASE("Unequal spacing and a fluid: the limit follows, and waves that do not move have no speed") {
  Grid g = grid({14, 15, 16}, 10, {FaceKind::absorbing, 4});
  g.spacing = {4, 10, 25};
  const Limits fluid = limits_of(equations::elastic(), g, 8, solid(1500, 0, 1000));
  const double sum = std::sqrt(1 / 16.0 + 1 / 100.0 + 1 / 625.0);
  CHECK(fluid.step == doctest::Approx(1 / (1500 * sum * staggered_sum(8))).epsilon(1e-5));
  CHECK(fluid.speeds.slowest == doctest::Approx(1500));
}

TEST_CASE("A model that varies along one axis has the bound of the full iteration") {
  const Grid column = grid({40}, 10, {FaceKind::absorbing, 5});
  const Grid cube = grid({40, 12, 13}, 10, {FaceKind::absorbing, 5});
  const auto models = [](const Grid& g) {
    return loop::Models{{"vp", layered(g, 20, 340, 1500)}, {"rho", layered(g, 20, 1.2, 1000)}};
  };
  const auto equation = equations::acoustic_density();
  const Limits one = limits_of(equation, column, 4, models(column));
  CHECK(std::abs(one.cell[0] - 20) <= 3);
  // The same model with one node changed by a trifle is iterated in full.
  std::vector<double> vp(40 * 12 * 13);
  for (std::size_t i = 0; i < vp.size(); ++i) vp[i] = i / (12 * 13) < 20 ? 340 : 1500;
  loop::Models whole = models(cube);
  const double shrunk = limits_of(equation, cube, 4, whole).step;
  vp[5 * 12 * 13 + 6 * 13 + 6] = 340.001;
  whole["vp"] = loop::ModelArray(vp);
  CHECK(limits_of(equation, cube, 4, whole).step == doctest::Approx(shrunk).epsilon(3e-3));
}

TEST_CASE(
    "Air over water: 20 cells, 3000 steps at the limit itself stay bounded; the homogeneous formula does "
    "not") {
  const Grid g = grid({20}, 10);
  const double homogeneous = 10 / (1500 * staggered_sum(4));
  const auto on = [&](double above, double below) {
    return on_nodes(g, [&](const std::vector<std::int64_t>& i) { return i[0] < 10 ? above : below; });
  };
  const std::vector<std::pair<std::string, std::vector<double>>> models = {
      {"vp", on(340, 1500)}, {"vs", on(0, 0)}, {"rho", on(1.2, 1000)}};
  loop::Models arrays;
  for (const auto& [name, values] : models) arrays[name] = loop::ModelArray(values);
  const Limits found = limits_of(equations::elastic(), g, 4, arrays);
  MESSAGE("air over water, order 4: " << found.step / homogeneous << " of the homogeneous limit");
  CHECK(found.step < 0.99 * homogeneous);
  CHECK(found.step > 0.7 * homogeneous);
  CHECK(grown(equations::elastic(), g, 4, 3000, 1.0, models, {"v.z"}) < 1e3);
  CHECK_THROWS_AS(grown(equations::elastic(), g, 4, 3000, 1.01, models, {"v.z"}), UserError);
}

TEST_CASE("Random media, all equations: at the limit itself 2000 steps stay bounded") {
  const Grid g = grid({15, 14}, 10);
  Random random(3);
  const auto between = [&](double low, double high) {
    return on_nodes(g,
                    [&](const std::vector<std::int64_t>&) { return low + (high - low) * random.uniform(); });
  };
  const auto vp = between(1500, 4000), rho = between(300, 3000);
  std::vector<double> vs = between(0, 0.6);
  for (std::size_t i = 0; i < vs.size(); ++i) vs[i] *= i % 3 == 0 ? 0 : vp[i];
  for (const int order : {2, 8}) {
    CAPTURE(order);
    CHECK(grown(equations::elastic(), g, order, 2000, 1.0, {{"vp", vp}, {"vs", vs}, {"rho", rho}},
                {"v.z", "v.x"}) < 1e4);
    CHECK(grown(equations::acoustic_density(), g, order, 2000, 1.0, {{"vp", vp}, {"rho", rho}}, {"u"}) < 1e4);
  }
}
