// The oracle's tangents against differences, in an equation whose coefficients take every rule.
// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "compiler/passes/linearize.hpp"
#include "tests/compiler/reference/setup.hpp"

namespace ondula::test {
namespace {

EQUATION(damped_layers, "A damped wave whose coefficients nest and divide") {
  auto c = parameter("c", "m/s", positive);
  auto q = parameter("q", "1/s", positive);
  auto p = scalar("p", "m");
  auto v = vector("v", "m");
  evolve(dt(v) = c * grad(p) - q * v);
  evolve(dt(p) = sq(c) / (c + c) * div(v) - q * p);
}

std::map<std::string, double> symbols(const ir::Domain& domain) {
  return {{"dt", 1e-3}, {"h_z", domain.spacing[0]}, {"h_x", domain.spacing[1]}};
}

double wiggle(const ir::Extents& i, double phase) {
  return std::sin(1.7 * static_cast<double>(i[0]) + 0.9 * static_cast<double>(i[1]) + phase);
}

}  // namespace

TEST_CASE("reference: a linearised step with damping equals central differences of the step") {
  const ir::Domain grid = with_layers(domain({9, 8}, 10, FaceKind::absorbing), 4);
  const ir::Program physical = program(damped_layers(), 2, 4);
  const ir::Tangent tangent = passes::linearize(physical);
  const ir::LayerOptions layer{1e-3, 3000, 10, 0, 1};
  const auto start = sampled(grid, [](const ir::Extents& i) { return wiggle(i, 0.3); });
  const auto values = [&](const std::string& name, double h) {
    return sampled(grid, [&](const ir::Extents& i) {
      return name == "c" ? 2000 + 300 * wiggle(i, 1) + h * wiggle(i, 2) * 500
                         : 40 + 10 * wiggle(i, 3) + h * wiggle(i, 4) * 20;
    });
  };
  const auto forward = [&](double h) {
    reference::Executor<double> executor(physical, grid, symbols(grid), layer);
    for (const std::string name : {"c", "q"}) executor.set_parameter(name, values(name, h));
    executor.set_field("p", 0, start);
    run(executor, 20);
    return executor.field("p");
  };
  reference::Executor<double> born(tangent.program, grid, symbols(grid), layer);
  for (const std::string name : {"c", "q"}) {
    born.set_parameter(name, values(name, 0));
    std::vector<double> change = values(name, 1);
    const std::vector<double> before = values(name, 0);
    for (std::size_t i = 0; i < change.size(); ++i) change[i] -= before[i];
    born.set_perturbation(name, change);
  }
  born.set_field("p", 0, start);
  run(born, 20);
  CHECK(born.field("p") == forward(0));
  const std::vector<double> linear = born.field(tangent.derivative_of("p"));
  const std::vector<double> plus = forward(1e-5), minus = forward(-1e-5);
  double most = 0, apart = 0;
  for (std::size_t i = 0; i < linear.size(); ++i) {
    most = std::max(most, std::fabs(linear[i]));
    apart = std::max(apart, std::fabs((plus[i] - minus[i]) / 2e-5 - linear[i]));
  }
  CHECK(most > 0.01);
  CHECK(apart < 1e-8 * most);
}

}  // namespace ondula::test
