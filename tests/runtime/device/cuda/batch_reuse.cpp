// Shots that run at once, call after call on one Propagator: other shots, other counts, states, cancelled
// calls. SPDX-License-Identifier: MIT
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "compiler/error.hpp"
#include "tests/runtime/device/cuda/on_sim.hpp"
#include "tests/runtime/gradient/born.hpp"

namespace ondula::test {
namespace {

Setting setting_of(const char* equation) {
  Setting s;
  s.equation = equation;
  s.dtype = DType::float32;
  s.steps = 30;
  return s;
}

/// `count` shots like `shot`, each with another wavelet, and with fewer sources and receivers than the one
/// after.
std::vector<Shot> growing(const Shot& shot, std::size_t count) {
  std::vector<Shot> shots(count, shot);
  for (std::size_t k = 0; k < count; ++k) {
    Shot& own = shots[k];
    own.sources.resize(std::min(own.sources.size(), k + 1));
    own.receivers.resize(std::min(own.receivers.size(), 3 * k));
    for (double& v : own.sources[0].wavelet) v *= 1 + 0.2 * static_cast<double>(k);
  }
  return shots;
}

/// The same shots with `times` as many receivers.
std::vector<Shot> with_receivers(std::vector<Shot> shots, std::size_t times) {
  for (Shot& shot : shots) {
    const std::vector<Receiver> own = shot.receivers;
    for (std::size_t k = 1; k < times; ++k)
      shot.receivers.insert(shot.receivers.end(), own.begin(), own.end());
  }
  return shots;
}

std::string joined(const std::vector<std::string>& differences) {
  return fmt::format("{}", fmt::join(differences, "; "));
}

MisfitFunction squares() {
  return [](std::int64_t, const std::map<std::string, Traces>& records) { return Misfit{0, records}; };
}

}  // namespace

TEST_CASE("shots at once: calls with more shots, fewer, gradients and linearised ones follow each other") {
  ONDULA_NEEDS_STAND_IN();
  for (const char* equation : {"acoustic", "elastic"}) {
    CAPTURE(equation);
    BornSetup born(setting_of(equation));
    const Shot shot = born.problem.shots[0];
    const auto run = [&](Backend backend) {
      Problem own = on(born.problem, backend);
      own.options.shot_batch = 4;
      Propagator propagator = own.propagator();
      std::vector<Everything> all;
      for (const std::size_t count : {2, 7, 1, 5}) {
        own.shots = growing(shot, count);
        std::reverse(own.shots.begin(), own.shots.end());
        all.emplace_back();
        all.back().records = propagator.forward(own.shots, 20);  // other steps than the gradient's
        if (count == 7) all.back().gradient.records = propagator.born(own.shots, born.perturbation);
        all.push_back(everything(propagator, own));
      }
      return all;
    };
    const std::vector<Everything> host = run(Backend::host);
    const SimDriver driver(untouched(ONDULA_SIM_SHUFFLE, 3));
    const std::vector<Everything> found = run(Backend::cuda_sim);
    REQUIRE(found.size() == host.size());
    for (std::size_t k = 0; k < host.size(); ++k) {
      CAPTURE(k);
      CHECK(joined(differences(found[k], host[k])) == "");
    }
    CHECK(driver.report() == "");
  }
}

TEST_CASE("shots at once: every shot of every batch starts from a state that was set") {
  ONDULA_NEEDS_STAND_IN();
  for (const char* equation : {"acoustic", "acoustic_density", "elastic"}) {
    CAPTURE(equation);
    BornSetup born(setting_of(equation));
    const Shot shot = born.problem.shots[0];
    const auto run = [&](Backend backend) {
      Problem own = on(born.problem, backend);
      own.options.shot_batch = 3;
      Propagator propagator = own.propagator();
      own.shots = growing(shot, 4);
      static_cast<void>(propagator.forward(own.shots, 13));
      propagator.set_state(propagator.state());  // the last shot's, alone in its batch
      Everything all = everything(propagator, own);
      all.gradient.records = propagator.born(own.shots, born.perturbation);
      return all;
    };
    const Everything host = run(Backend::host);
    const SimDriver driver(untouched());
    CHECK(joined(differences(run(Backend::cuda_sim), host)) == "");
  }
}

TEST_CASE(
    "shots at once: calls that are cancelled, or whose misfit throws, leave nothing behind in the next") {
  ONDULA_NEEDS_STAND_IN();
  Problem problem = random_problem(setting_of("acoustic"));
  problem.shots = growing(problem.shots[0], 5);
  const Everything host = everything(problem);
  const SimDriver driver(untouched(ONDULA_SIM_SHUFFLE, 5));
  problem = on(problem, Backend::cuda_sim, sim_compiler());
  problem.options.shot_batch = 3;
  int asked = 0, until = 0;
  problem.options.cancel = [&] { return ++asked == until; };
  Propagator propagator = problem.propagator();
  for (int count = 1; count < 6; ++count) {
    CAPTURE(count);
    until = count;
    asked = 0;
    try {
      static_cast<void>(propagator.forward(problem.shots));
    } catch (const Cancelled&) {
    }
    asked = 0;
    try {
      static_cast<void>(propagator.gradient(problem.shots, squares()));
    } catch (const Cancelled&) {
    }
    until = 0;
    CHECK_THROWS_AS(static_cast<void>(propagator.gradient(
                        problem.shots,
                        [&](std::int64_t shot, const std::map<std::string, Traces>& records) {
                          if (shot == count - 1) throw std::runtime_error("no misfit");
                          return Misfit{0, records};
                        })),
                    std::runtime_error);
    CHECK(joined(differences(everything(propagator, problem), host)) == "");
  }
}

TEST_CASE("shots at once: a later call's receivers find room where fewer shots leave it") {
  ONDULA_NEEDS_STAND_IN();
  const SimDriver driver(untouched());
  BornSetup born(setting_of("acoustic"));
  Problem problem = on(born.problem, Backend::cuda_sim, sim_compiler());
  const Shot shot = problem.shots[0];
  problem.shots.assign(6, shot);
  const std::vector<Shot> more = with_receivers(problem.shots, 60);
  const auto each = [&](const char* what, std::size_t limit, const auto& call) {
    CAPTURE(what);
    problem.options.device_bytes_limit = limit;
    Propagator fresh = problem.propagator();
    const auto expected = call(fresh, more);  // by itself it has room
    Propagator propagator = problem.propagator();
    static_cast<void>(call(propagator, problem.shots));
    CHECK(call(propagator, more) == expected);
    CHECK(propagator.device_bytes_peak() <= limit);
  };
  const auto records = [](const Records& all) {
    std::vector<std::vector<double>> data;
    for (const auto& own : all)
      for (const auto& [field, traces] : own) data.push_back(traces.data);
    return data;
  };
  const Estimate few = problem.propagator().estimate(problem.shots);
  REQUIRE(few.shots_at_once == 6);
  each("forward", few.device_bytes * 22 / 20,
       [&](Propagator& p, const std::vector<Shot>& shots) { return records(p.forward(shots)); });
  each("born", few.device_bytes * 3, [&](Propagator& p, const std::vector<Shot>& shots) {
    return records(p.born(shots, born.perturbation));
  });
  each("gradient", few.gradient_device_bytes * 22 / 20,
       [&](Propagator& p, const std::vector<Shot>& shots) { return p.gradient(shots, squares()).models; });
}

TEST_CASE("shots at once: whatever room there is beyond one shot's, a call finds a number that fits") {
  ONDULA_NEEDS_STAND_IN();
  const SimDriver driver(untouched());
  Setting setting = setting_of("elastic");
  setting.faces = "flll";
  setting.steps = 4;
  BornSetup born(setting);
  Problem problem = on(born.problem, Backend::cuda_sim, sim_compiler());
  const auto call = [&](Propagator& propagator, int kind) {
    if (kind == 0) static_cast<void>(propagator.forward(problem.shots));
    if (kind == 1) static_cast<void>(propagator.born(problem.shots, born.perturbation));
    if (kind == 2) static_cast<void>(propagator.gradient(problem.shots, squares()));
    return propagator.device_bytes_peak();
  };
  const Shot shot = problem.shots[0];
  for (const bool sources : {true, false}) {
    problem.shots.assign(5, shot);
    for (Shot& own : problem.shots) {
      for (int k = 0; k < 20; ++k) {
        if (sources)
          own.sources.insert(own.sources.end(), shot.sources.begin(), shot.sources.end());
        else
          own.receivers.insert(own.receivers.end(), shot.receivers.begin(), shot.receivers.end());
      }
    }
    for (int kind = 0; kind < 3; ++kind) {
      std::array<std::size_t, 2> peaks{};
      for (std::size_t all = 0; all < 2; ++all) {
        problem.options.shot_batch = all == 0 ? 1 : 5;
        problem.options.device_bytes_limit = 0;
        Propagator propagator = problem.propagator();
        peaks[all] = call(propagator, kind);
      }
      problem.options.shot_batch = 0;
      for (const int k : {2, 4, 7}) {
        problem.options.device_bytes_limit =
            peaks[0] + (peaks[1] - peaks[0]) * static_cast<std::size_t>(k) / 10;
        CAPTURE(sources);
        CAPTURE(kind);
        CAPTURE(k);
        Propagator propagator = problem.propagator();
        CHECK_NOTHROW(static_cast<void>(call(propagator, kind)));
      }
    }
  }
}

TEST_CASE(
    "B15: an elastic gradient's bytes: what points have on the way back, and at a free surface, counts") {
  ONDULA_NEEDS_STAND_IN();
  const SimDriver driver(untouched());
  const auto compiler = sim_compiler();
  for (const char* faces : {"l", "flll"}) {
    for (const bool sources : {true, false}) {
      CAPTURE(faces);
      CAPTURE(sources);
      Setting setting = setting_of("elastic");
      setting.faces = faces;
      Problem problem = on(random_problem(setting), Backend::cuda_sim, compiler);
      const Shot shot = problem.shots[0];
      for (int k = 0; k < 10; ++k) {
        Shot& own = problem.shots[0];
        if (sources)
          own.sources.insert(own.sources.end(), shot.sources.begin(), shot.sources.end());
        else
          own.receivers.insert(own.receivers.end(), shot.receivers.begin(), shot.receivers.end());
      }
      problem.shots.resize(3, problem.shots[0]);
      Propagator propagator = problem.propagator();
      const Estimate estimate = propagator.estimate(problem.shots);
      CHECK(estimate.gradient_shots_at_once == 3);
      static_cast<void>(propagator.gradient(problem.shots, squares()));
      CHECK(static_cast<double>(estimate.gradient_device_bytes) ==
            doctest::Approx(static_cast<double>(propagator.device_bytes_peak())).epsilon(0.05));
    }
  }
}

}  // namespace ondula::test
