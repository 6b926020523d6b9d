// Born modelling by compiled kernels, and its calls.
// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tests/runtime/gradient/born.hpp"
#include "tests/runtime/jit/support.hpp"
#include "tests/support/messages.hpp"

namespace ondula::test {
namespace {

Records born(const Setting& c, int threads = 1) {
  BornSetup setup(c);
  setup.problem.options.threads = threads;
  Propagator propagator = setup.propagator();
  return propagator.born(setup.shots(), setup.perturbation);
}

}  // namespace

TEST_CASE("Born on the host: equals the reference, one and two threads bit for bit, dot products") {
  ONDULA_NEEDS_CLANG();
  double worst = 0, worst_dot = 0;
  const std::vector<Setting> cases = {
      {.equation = "acoustic", .dims = 3, .order = 8, .faces = "lllrlf"},
      {.equation = "acoustic_density", .dims = 2, .order = 4},
      {.equation = "acoustic_density", .dims = 2, .order = 4, .faces = "flrl"},
      {.equation = "elastic", .dims = 2, .order = 8},
      {.equation = "elastic",
       .dims = 2,
       .order = 8,
       .faces = "flrl",
       .substeps = 3,
       .fluid = true,
       .middle = true},
      {.equation = "elastic", .dims = 1, .order = 2},
      {.equation = "elastic", .dims = 3, .order = 2, .faces = "flpplr"},
  };
  for (Setting c : cases) {
    c.backend = Backend::reference;
    CAPTURE(text(c));
    const Records exact = born(c);
    c.backend = Backend::host;
    const Records host = born(c);
    const double error = largest_difference(exact, host);
    CHECK(error < 1e-13);
    worst = std::max(worst, error);
    CHECK(largest_difference(host, born(c, 2)) == 0);
    if (c.dims == 3) continue;
    const double dot = born_dot_error(c);
    CHECK(dot < 1e-13);
    worst_dot = std::max(worst_dot, dot);
  }
  Setting single{.equation = "elastic",
                 .dims = 2,
                 .order = 4,
                 .faces = "fl",
                 .backend = Backend::reference,
                 .dtype = DType::float32};
  const Records exact = born(single);
  single.backend = Backend::host;
  CHECK(largest_difference(exact, born(single)) < 2e-5);
  CHECK(born_dot_error(single) < 1e-5);
  MESSAGE("host - reference ", worst, ", dot products ", worst_dot);
}

TEST_CASE("Born: calls of all kinds take turns on one propagator, and models may change between them") {
  ONDULA_NEEDS_CLANG();
  BornSetup setup({.equation = "acoustic", .dims = 2, .order = 2, .backend = Backend::host});
  Propagator propagator = setup.propagator();
  const Records forward = propagator.forward(setup.shots());
  const Records first = propagator.born(setup.shots(), setup.perturbation);
  CHECK(propagator.state().empty());
  const Gradient product = propagator.gauss_newton(setup.shots(), setup.perturbation);
  CHECK(largest_difference(forward, propagator.forward(setup.shots())) == 0);
  CHECK(largest_difference(first, propagator.born(setup.shots(), setup.perturbation)) == 0);
  // <m, F'F m> is the sum of squares of F m.
  double squares = 0, curvature = 0;
  for (const double value : first[0].at("u").data) squares += value * value;
  const std::vector<double>& change = setup.perturbation.at("vp");
  for (std::size_t i = 0; i < change.size(); ++i) curvature += change[i] * product.models.at("vp")[i];
  CHECK(std::fabs(curvature - squares) < 1e-12 * squares);
  const auto moved = setup.moved(0.05);
  propagator.set_model("vp", moved.at("vp"));
  Propagator fresh = setup.propagator(moved);
  const Records after = propagator.born(setup.shots(), setup.perturbation);
  CHECK(largest_difference(after, fresh.born(setup.shots(), setup.perturbation)) == 0);
  CHECK(largest_difference(first, after) > 1e-3);
}

TEST_CASE("Born is linear: parameters left out do not change, and nothing perturbed gives zeros") {
  BornSetup setup({.equation = "elastic", .faces = "fl", .backend = Backend::reference});
  Propagator propagator = setup.propagator();
  Records sum = propagator.born(setup.shots(), {});
  for (const auto& [field, traces] : sum[0]) {
    CHECK(std::all_of(traces.data.begin(), traces.data.end(), [](double v) { return v == 0; }));
  }
  for (const auto& [name, change] : setup.perturbation) {
    const Records part = propagator.born(setup.shots(), {{name, change}});
    for (auto& [field, traces] : sum[0]) {
      for (std::size_t i = 0; i < traces.data.size(); ++i) traces.data[i] += part[0].at(field).data[i];
    }
  }
  CHECK(largest_difference(propagator.born(setup.shots(), setup.perturbation), sum) < 1e-13);
}

TEST_CASE("Born: perturbations of unknown parameters, of another size, or not finite are refused by name") {
  BornSetup setup({.equation = "acoustic_density", .backend = Backend::reference});
  Propagator propagator = setup.propagator();
  const auto of = [&](const std::map<std::string, std::vector<double>>& perturbation) {
    return refusal([&] { propagator.born(setup.shots(), perturbation); });
  };
  const std::vector<double>& change = setup.perturbation.at("vp");
  check_mentions(of({{"vs", change}}), {"no parameter vs", "vp, rho"});
  check_mentions(of({{"rho", std::vector<double>(7, 0.0)}}), {"perturbation of rho", "7 values"});
  std::vector<double> wrong = change;
  wrong[5] = std::nan("");
  check_mentions(of({{"vp", wrong}}), {"perturbation of vp", "nan at index 5"});
  setup.problem.shots[0].receivers[0].field = "w";
  check_mentions(of(setup.perturbation), {"no field w"});
  setup.problem.shots[0].receivers.erase(setup.problem.shots[0].receivers.begin());
  CHECK(propagator.born(setup.shots(), setup.perturbation)[0].at("u").receivers == 2);
  setup.problem.options.storage.keep = Storage::none;
  Propagator without = setup.propagator();
  CHECK(without.born(setup.shots(), setup.perturbation).size() == 1);
  check_mentions(refusal([&] { without.gauss_newton(setup.shots(), setup.perturbation); }),
                 {"storage is off"});
}

}  // namespace ondula::test
