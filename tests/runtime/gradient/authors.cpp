// Gradients of equations that an author writes: moduli as parameters, a wave of first order.
// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>

#include "compiler/dsl/dsl.hpp"
#include "compiler/error.hpp"
#include "tests/runtime/gradient/objective.hpp"
#include "tests/runtime/jit/support.hpp"
#include "tests/support/compare.hpp"

namespace ondula::test {

EQUATION(own_moduli, "elastic waves whose moduli are the author's own parameters") {
  auto lambda = parameter("lambda", "Pa", positive), mu = parameter("mu", "Pa", nonnegative);
  auto rho = parameter("rho", "kg/m^3", positive);
  auto v = vector("v", "m/s");
  auto s = symmetric_tensor("s", "Pa");
  evolve(dt(v) = (div(s) + force(v)) / rho);
  evolve(dt(s) = lambda * trace(grad(v)) * identity() + 2 * mu * sym(grad(v)) - moment_rate(s));
}

EQUATION(slopes_of_two, "a wave in velocity and pressure, with a coefficient used on nodes and off them") {
  auto c = parameter("c", "m/s", positive);
  auto k = parameter("k", "1", positive);
  auto v = vector("v", "m/s");
  auto f = scalar("f", "m/s");
  evolve(dt(v) = c * grad(f) + force(v));
  evolve(dt(f) = c * k * div(v) + source(f));
}

namespace {

/// The elastic problem in moduli; `fluid`: mu = 0 in the upper 5 rows.
Problem in_moduli(bool fluid) {
  Setting s;
  s.equation = "elastic";
  s.faces = "flll";
  s.steps = 60;
  Problem p = random_problem(s);
  if (fluid) std::fill_n(p.models["vs"].begin(), 5 * static_cast<std::size_t>(p.grid.shape[1]), 0.0);
  Arrays moduli;
  moduli["rho"] = p.models["rho"];
  for (std::size_t i = 0; i < p.nodes(); ++i) {
    const double rho = p.models["rho"][i], vp = p.models["vp"][i], vs = p.models["vs"][i];
    moduli["mu"].push_back(rho * vs * vs);
    moduli["lambda"].push_back(rho * vp * vp - 2 * rho * vs * vs);
  }
  p.equation = own_moduli();
  p.models = moduli;
  return p;
}

Problem first_order() {
  Problem p = random_problem({});
  p.equation = slopes_of_two();
  p.grid.faces = {{Face{FaceKind::absorbing, 4}, Face{FaceKind::absorbing, 5}},
                  {rigid, Face{FaceKind::absorbing, 4}}};
  p.models = {{"c", p.models["vp"]}, {"k", p.models["vp"]}};
  for (double& v : p.models["k"]) v *= 4e-4;
  Shot& shot = p.shots[0];
  for (std::size_t i = 0; i < shot.sources.size(); ++i) shot.sources[i].field = i % 2 == 0 ? "f" : "v.z";
  for (std::size_t i = 0; i < shot.receivers.size(); ++i) shot.receivers[i].field = i % 2 == 0 ? "f" : "v.x";
  return p;
}

double worst_at(Objective& objective, const Gradient& gradient, const std::string& parameter,
                const std::vector<std::size_t>& nodes) {
  const std::vector<double>& values = gradient.models.at(parameter);
  double worst = 0;
  for (const std::size_t node : nodes)
    worst = detail::worse(worst, std::fabs(values[node] - objective.difference(parameter, node, 5e-5)));
  return worst / max_abs(values);
}

}  // namespace

TEST_CASE("gradient: where mu is the author's parameter, at mu = 0 too, against one-sided differences") {
  ONDULA_NEEDS_CLANG();
  for (const bool fluid : {false, true}) {
    CAPTURE(fluid);
    Objective objective(in_moduli(fluid));
    const Problem& p = objective.problem();
    const Gradient gradient = objective.gradient();
    const std::vector<std::size_t> nodes = {p.at({6, 5}), p.at({5, 4}), p.at({8, 10}), p.at({12, 0})};
    for (const auto& [name, values] : p.models) CHECK(worst_at(objective, gradient, name, nodes) < 1e-6);
    if (!fluid) {
      CHECK(worst_at(objective, gradient, "mu", {p.at({0, 5}), p.at({1, 0})}) < 1e-6);
      continue;
    }
    const std::vector<double>& slopes = gradient.models.at("mu");
    CHECK(slopes[p.at({2, 5})] != 0);
    const double here = objective.value(p);
    for (const auto& node : {p.at({0, 6}), p.at({1, 3}), p.at({2, 5}), p.at({4, 5}), p.at({3, 10})}) {
      const double h = 1e4;  // Pa; mu is some 3e9 below
      std::array<double, 2> at{};
      for (const int k : {1, 2}) {
        Problem other = p;
        other.models["mu"][node] = k * h;
        at[static_cast<std::size_t>(k - 1)] = objective.value(other);
      }
      const double difference = (-3 * here + 4 * at[0] - at[1]) / (2 * h);
      CAPTURE(node);
      CHECK(std::fabs(slopes[node] - difference) < 1e-5 * max_abs(slopes));
    }
  }
}

TEST_CASE("gradient: the adjoint kept unscaled gives the gradient that the scaled one gives") {
  ONDULA_NEEDS_CLANG();
  for (const Backend backend : {Backend::host, Backend::reference}) {
    Setting s;
    s.equation = "elastic";
    s.faces = "flll";
    s.backend = backend;
    s.fluid = true;
    const Problem p = random_problem(s);
    const LeastSquares misfit(p);
    Propagator propagator = p.propagator();
    GradientOptions options;
    const Gradient scaled = propagator.gradient(p.shots, misfit.function(), options);
    options.wavelets = true;  // in a fluid that takes adjoints as they are
    const Gradient unscaled = propagator.gradient(p.shots, misfit.function(), options);
    const double worst = worst_difference(unscaled.models, scaled.models);
    CHECK(worst < 1e-12);
    MESSAGE(fmt::format("largest difference {:.1e}", worst));
  }
}

TEST_CASE("gradient: an author's first-order wave, with layers and a wall, equals finite differences") {
  ONDULA_NEEDS_CLANG();
  for (const Backend backend : {Backend::host, Backend::reference}) {
    Problem p = first_order();
    p.options.backend = backend;
    Objective objective(p);
    const Gradient gradient = objective.gradient();
    for (const auto& [name, values] : p.models) {
      CAPTURE(name);
      CHECK(max_abs(gradient.models.at(name)) > 0);
      const std::vector<std::size_t> nodes = {p.at({0, 0}), p.at({6, 5}), p.at({7, 10}), p.at({12, 3})};
      CHECK(worst_at(objective, gradient, name, nodes) < 1e-6);
    }
  }
}

}  // namespace ondula::test
