// Check mode over settings in which kernels once left their arrays, or threads each other's way.
// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <thread>

#include "tests/runtime/device/cuda/on_sim.hpp"

namespace ondula::test {
namespace {

Setting small(const std::string& equation, int dims, std::int64_t steps) {
  Setting s;
  s.equation = equation;
  s.dims = dims;
  s.order = 2;
  s.dtype = DType::float32;
  s.faces = "flllll";
  s.steps = steps;
  return s;
}

/// Runs and derivatives as on the host, in fresh memory, and nothing found.
void checked(const Problem& problem, bool graphs) {
  CAPTURE(graphs);
  use_graphs(graphs);
  const Everything expected = everything(problem);
  const SimDriver driver(untouched(ONDULA_SIM_CHECK, 2));
  {
    Problem own = on(problem, Backend::cuda_sim, sim_compiler());
    own.options.poison = true;
    const std::string different = fmt::format("{}", fmt::join(differences(everything(own), expected), "; "));
    CHECK(different == "");
  }
  CHECK(driver.report() == "");
  CHECK(leaks(driver) == "");
}

}  // namespace

TEST_CASE("cuda-sim check: shots without receivers, without sources, and with receivers of one kind alone") {
  ONDULA_NEEDS_STAND_IN();
  for (const char* equation : {"acoustic", "elastic"}) {
    CAPTURE(equation);
    Problem problem = random_problem(small(equation, 2, 6));
    const Shot whole = problem.shots[0];
    Shot unheard = whole, silent = whole, one = whole;
    unheard.receivers.clear();
    silent.sources.clear();
    one.receivers = {whole.receivers[3 % whole.receivers.size()]};
    problem.shots = {unheard, one, whole, silent, one, unheard};
    checked(problem, true);
    problem.shots = {unheard, silent, one};
    checked(problem, false);
  }
}

TEST_CASE("cuda-sim check: gradients of variable density in 3-D under a free surface stay in their arrays") {
  ONDULA_NEEDS_STAND_IN();
  for (const int order : {2, 4}) {
    CAPTURE(order);
    Setting s = small("acoustic_density", 3, 3);
    s.order = order;
    s.initial = true;
    checked(random_problem(s), order == 2);
  }
}

TEST_CASE("cuda-sim check: Propagators of four threads on two devices share the host's threads unseen") {
  ONDULA_NEEDS_STAND_IN();
  use_graphs(true);
  std::array<Problem, 4> problems;
  std::array<Everything, 4> expected;
  for (std::size_t t = 0; t < problems.size(); ++t) {
    Setting s = small(t == 0 ? "elastic" : "acoustic", 2, 4);
    s.seed = 20 + t;
    problems[t] = random_problem(s);
    expected[t] = everything(problems[t]);
    problems[t].options.device = static_cast<int>(t / 2);
    problems[t].options.threads = 2;
  }
  DriverSetup setup = untouched(ONDULA_SIM_CHECK, 7);
  setup.devices = 2;
  const SimDriver driver(setup);
  const auto compiler = sim_compiler();
  std::array<std::string, 4> wrong;
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < problems.size(); ++t) {
    threads.emplace_back([&, t] {
      try {
        // Two of each, in turns: neither may find the other's context current, or its work half done.
        Propagator first = on(problems[t], Backend::cuda_sim, compiler).propagator();
        Propagator second = on(problems[t], Backend::cuda_sim, compiler).propagator();
        for (Propagator* propagator : {&first, &second})
          wrong[t] += fmt::format(
              "{}", fmt::join(differences(everything(*propagator, problems[t]), expected[t]), "; "));
      } catch (const std::exception& error) {
        wrong[t] += error.what();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::string& text : wrong) CHECK(text == "");
  CHECK(driver.report() == "");
  CHECK(leaks(driver) == "");
}

}  // namespace ondula::test
