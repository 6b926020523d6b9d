// Damping and memory do not lower the limit: long runs just below it, in media of noise, and what is refused.
// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>

#include "compiler/passes/stencil.hpp"
#include "tests/equations/users/users.hpp"
#include "tests/runtime/jit/support.hpp"
#include "tests/support/messages.hpp"

namespace ondula::test {
namespace {

/// Loudest of each tenth of a run from noise, over that of the first.
std::vector<double> tenths(Problem problem, const std::string& recorded, std::int64_t steps) {
  problem.options.dt *= 0.99 / 0.8;
  problem.options.steps = steps;
  Random random(5);
  problem.initial[recorded] = noise(random, problem.nodes());
  // At rest: a mean that moves would go on in a periodic box.
  if (recorded == "u") problem.initial["u.previous"] = problem.initial["u"];
  Shot shot;
  for (const double share : {0.3, 0.7}) {
    Receiver receiver{.field = recorded, .position = {}};
    for (std::size_t a = 0; a < problem.grid.shape.size(); ++a) {
      receiver.position.push_back(problem.grid.origin[a] +
                                  share * problem.grid.spacing[a] *
                                      static_cast<double>(problem.grid.shape[a] - 1));
    }
    shot.receivers.push_back(receiver);
  }
  problem.shots = {shot};
  const std::vector<double> data = problem.propagator().forward(problem.shots).front().at(recorded).data;
  std::vector<double> loudest(10, 0.0);
  for (std::size_t n = 0; n < data.size(); ++n) {
    const std::size_t tenth = n % static_cast<std::size_t>(steps) * 10 / static_cast<std::size_t>(steps);
    loudest[tenth] = std::isfinite(data[n]) ? std::max(loudest[tenth], std::fabs(data[n])) : HUGE_VAL;
  }
  for (double& value : loudest) value /= loudest[0] > 0 ? loudest[0] : 1;
  return loudest;
}

/// Walls or periodic axes all around: nothing leaves.
Problem closed(Problem problem, bool periodic) {
  for (auto& pair : problem.grid.faces) {
    const Face face{periodic ? FaceKind::periodic : FaceKind::rigid, 0};
    pair = {face, face};
  }
  problem.options.dt = 1e-15;
  problem.options.dt = 0.8 * problem.propagator().estimate({}).cfl_limit;
  return problem;
}

}  // namespace

TEST_CASE("users' equations: 20,000 steps at 0.99 of the limit do not grow") {
  ONDULA_NEEDS_CLANG();
  for (const auto& [name, recorded] : {std::pair{"damped_wave", "u"},
                                       {"viscoacoustic", "p"},
                                       {"viscoelastic", "s.zz"},
                                       {"maxwell_tm", "e"}}) {
    for (const double slower : {1.0, 1000.0}) {
      Problem problem = user_problem(name, 2);
      // Strong memory; rates about the step's, or so slow that hardly anything is lost.
      for (auto& [parameter, values] : problem.models) {
        for (double& v : values) {
          if (parameter[0] == 't' && parameter != "t1" && parameter != "t2" && parameter != "t") v *= 8;
          if (parameter == "t1" || parameter == "t2" || parameter == "t") v *= 0.1 * slower;
          if (parameter == "eta" || parameter == "sigma") v /= slower;
        }
      }
      const std::vector<double> loudest = tenths(closed(problem, slower > 1), recorded, 20000);
      CAPTURE(std::string(name));
      MESSAGE(fmt::format("{}, {}: the last tenth over the first {:.1e}", name, slower > 1 ? "slow" : "fast",
                          loudest.back()));
      // Noise that hardly fades meets itself again in a closed box: peaks come and go.
      for (const double value : loudest) CHECK(value <= (slower > 1 ? 2 : 1));
    }
  }
}

TEST_CASE("users' equations: the limit is that of the unrelaxed modulus") {
  ONDULA_NEEDS_CLANG();
  Problem problem = user_problem("viscoacoustic", 2);
  const std::map<std::string, double> values = {{"vp", 2000},  {"rho", 1500}, {"tau1", 0.4},
                                                {"tau2", 0.2}, {"t1", 0.01},  {"t2", 0.001}};
  for (auto& [name, array] : problem.models) array.assign(array.size(), values.at(name));
  problem.grid.spacing = {10, 10};
  double sum = 0;
  for (const ir::Number& weight : passes::staggered(problem.options.order)) sum += std::fabs(weight.value());
  const double fastest = 2000 * std::sqrt(1.6);
  const Estimate estimate = problem.propagator().estimate({});
  CHECK(estimate.fastest == doctest::Approx(fastest).epsilon(1e-9));
  CHECK(estimate.cfl_limit == doctest::Approx(10 / (fastest * std::sqrt(2.0) * sum)).epsilon(1e-3));
}

TEST_CASE("users' equations: media that would feed energy to waves are refused, with the cell") {
  ONDULA_NEEDS_CLANG();
  // P waves that lose less than S waves: squeezed evenly this medium would gain energy.
  Problem problem = user_problem("viscoelastic", 2);
  const std::size_t bad = problem.at({5, 7});
  problem.models["tau_p"][bad] = 0.001;
  check_mentions(refusal([&] { problem.propagator().forward(problem.shots); }),
                 {"equation viscoelastic", "at cell (5, 7)", "what a memory of s.zz, s.xx holds",
                  "it must be 0 or more, or waves would grow"});
}

}  // namespace ondula::test
