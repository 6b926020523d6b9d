// Gradients by checkpoints: the bits of full storage.
// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <filesystem>

#include "compiler/error.hpp"
#include "runtime/storage/schedule.hpp"
#include "tests/runtime/device/cuda/on_sim.hpp"
#include "tests/runtime/gradient/pairs.hpp"
#include "tests/runtime/jit/support.hpp"
#include "tests/runtime/storage/plans.hpp"
#include "tests/support/environment.hpp"
#include "tests/support/messages.hpp"
#include "tests/support/temporary_directory.hpp"

namespace ondula::test {
namespace {

constexpr std::array<const char*, 3> equations_here = {"acoustic", "acoustic_density", "elastic"};
constexpr std::array<Backend, 3> backends = {Backend::reference, Backend::host, Backend::cuda_sim};

constexpr std::array<Tier, 3> tiers = {Tier::device, Tier::host, Tier::disk};

/// Levels: plan, equation, dimensions, backend, type, faces, substeps, tiers of states and of steps.
const std::vector<std::size_t> levels = {
    checkpoint_plans.size(), equations_here.size(), 2, backends.size(), 2, 2, 2, tiers.size(), tiers.size()};

/// Of the whole matrix: plans, equations, dimensions, backends and tiers all with all; type, faces and
/// substeps take turns.
bool in_turn(const Row& row) {
  const std::size_t turn = row[0] + row[1] + 3 * row[2] + row[3] + row[7] + 2 * row[8];
  return row[4] == turn % 2 && row[5] == turn / 2 % 2 && row[6] == (turn / 3 + row[1]) % 2;
}

Setting setting_of(const Row& row) {
  Setting s;
  s.equation = equations_here[row[1]];
  s.dims = static_cast<int>(row[2]) + 2;
  s.order = s.dims == 3 ? 2 : 4;
  s.backend = backends[row[3]];
  s.dtype = row[4] == 0 ? DType::float32 : DType::float64;
  s.faces = row[5] == 0 ? "l" : "flllll";
  s.substeps = row[6] == 0 ? 1 : 3;
  s.initial = true;
  s.steps = s.dims == 3 ? 40 : 51;
  s.seed = 60 + row[0];
  return s;
}

/// Shots with other numbers of sources and receivers.
Problem several_shots(const Setting& setting, std::size_t count) {
  Problem problem = random_problem(setting);
  const Shot shot = problem.shots[0];
  problem.shots.clear();
  for (std::size_t k = 0; k < count; ++k) {
    problem.shots.push_back(shot);
    problem.shots[k].sources.resize(1 + (k + 2) % shot.sources.size());
    problem.shots[k].receivers.resize(1 + (5 * k + 2) % shot.receivers.size());
  }
  return problem;
}

}  // namespace

TEST_CASE(
    "A23: gradients by segments and by Revolve have the bits of full storage, on every backend and tier") {
  ONDULA_NEEDS_STAND_IN();
  const auto compiler = make_compiler();
  const auto cuda_compiler = sim_compiler();
  const TemporaryDirectory scratch;
  DriverSetup roomy = untouched();
  roomy.memory = std::uint64_t{1} << 30;
  const SimDriver driver(roomy);
  // The reference keeps steps in its own memory.
  const auto all = [](const Row& row) { return backends[row[3]] != Backend::reference || row[8] == 0; };
  std::size_t count = 0;
  const auto turns = [&](const Row& row) { return all(row) && in_turn(row); };
  for (const Row& row : full_matrices() ? whole_matrix(levels, turns) : cover_by_pairs(levels, all)) {
    const Setting setting = setting_of(row);
    const Checkpoints plan = checkpoint_plans[row[0]];
    CAPTURE(text(setting));
    CAPTURE(text(plan));
    CAPTURE(row[7]);
    CAPTURE(row[8]);
    // Two at once on a device, then one.
    Problem problem = on(several_shots(setting, 3), setting.backend, cuda_compiler);
    problem.options.compiler = compiler;
    problem.options.shot_batch = 2;
    const Everything full = gradient_alone(problem);
    problem.options.storage = {Storage::full, plan, tiers[row[8]], tiers[row[7]], scratch.path().string()};
    CHECK(different(gradient_alone(problem), full) == "");
    CHECK(std::filesystem::is_empty(scratch.path()));
    ++count;
  }
  REQUIRE(count > 17);
  MESSAGE(fmt::format("{} settings", count));
}

TEST_CASE("checkpoints on cuda-sim: shuffled and checked, through graphs and without, the bits of the host") {
  ONDULA_NEEDS_STAND_IN();
  for (const char* equation : {"acoustic", "elastic"}) {
    Setting s;
    s.equation = equation;
    s.dtype = DType::float32;
    s.initial = true;
    s.steps = 120;  // segments of more than one graph
    Problem problem = several_shots(s, 3);
    const Everything full = gradient_alone(problem);
    problem = on(problem, Backend::cuda_sim, sim_compiler());
    problem.options.shot_batch = 2;
    for (const Checkpoints plan : {segments(2), segments(3), revolve(12)}) {
      const int mode = plan.count == 3 ? ONDULA_SIM_CHECK : ONDULA_SIM_SHUFFLE;
      CAPTURE(text(plan));
      use_graphs(plan.count != 12);
      const SimDriver driver(untouched(mode, 5));
      {
        Problem own = problem;
        own.options.storage.checkpoints = plan;
        own.options.poison = mode == ONDULA_SIM_CHECK;
        if (mode == ONDULA_SIM_CHECK) own.options.steps = 31;
        const Everything found = gradient_alone(own);
        if (mode == ONDULA_SIM_SHUFFLE) CHECK(different(found, full) == "");
      }
      CHECK(leaks(driver) == "");
      CHECK(driver.report() == "");
    }
  }
}

TEST_CASE("B12: gradients of 1 to 12 steps with 1 to 6 segments or states have the bits of full storage") {
  ONDULA_NEEDS_CLANG();
  const auto compiler = make_compiler();
  for (std::int64_t steps = 1; steps <= 12; ++steps) {
    Setting s;
    s.dims = 1;
    s.steps = steps;
    s.initial = true;
    s.equation = steps % 2 == 0 ? "acoustic" : "elastic";
    Problem problem = random_problem(s);
    problem.options.compiler = compiler;
    const Everything full = gradient_alone(problem);
    for (int count = 1; count <= 6; ++count) {
      for (const Checkpoints plan : {segments(count), revolve(count)}) {
        CAPTURE(steps);
        CAPTURE(text(plan));
        problem.options.storage.checkpoints = plan;
        CHECK(different(gradient_alone(problem), full) == "");
      }
    }
  }
}

TEST_CASE("E13: gradients of 0, 1 and 2 steps by checkpoints are those of full storage") {
  ONDULA_NEEDS_STAND_IN();
  const auto compiler = make_compiler();
  const auto cuda_compiler = sim_compiler();
  const SimDriver driver(untouched());
  for (const Backend backend : backends) {
    for (const std::int64_t steps : {0, 1, 2}) {
      Setting s;
      s.substeps = 3;
      s.initial = true;
      Problem problem = on(random_problem(s), backend, cuda_compiler);
      problem.options.compiler = compiler;
      problem.options.steps = steps;
      const Everything full = gradient_alone(problem);
      for (const Checkpoints plan : {segments(1), segments(2), segments(7), revolve(1), revolve(3)}) {
        CAPTURE(steps);
        CAPTURE(text(plan));
        problem.options.storage.checkpoints = plan;
        CHECK(different(gradient_alone(problem), full) == "");
      }
    }
  }
}

TEST_CASE(
    "B11: with as many states as steps nothing runs again; else as much as predicted, and timings say so") {
  ONDULA_NEEDS_CLANG();
  Setting s;
  s.substeps = 2;
  s.steps = 4;
  Problem problem = several_shots(s, 2);
  for (const Checkpoints plan : {revolve(4), revolve(3), revolve(1), segments(4), segments(1)}) {
    CAPTURE(text(plan));
    problem.options.storage.checkpoints = plan;
    Propagator propagator = problem.propagator();
    const Estimate estimate = propagator.estimate(problem.shots);
    every_derivative(propagator, problem);
    CHECK(estimate.steps_again ==
          2 * (storage::predict(plan, 4, storage::revolve_stretch(plan.count, 2)).run - 4));
    CHECK(propagator.timings().steps_again == 2 * estimate.steps_again);
    CHECK((estimate.checkpoint_bytes > 0) == (estimate.steps_again > 0));
  }
  problem.options.storage.checkpoints = revolve(4);
  CHECK(problem.propagator().estimate(problem.shots).steps_again == 0);
}

TEST_CASE(
    "checkpoints: from a state, with callbacks that throw in a stretch run again, the object serves on") {
  ONDULA_NEEDS_CLANG();
  Setting s;
  s.equation = "elastic";
  s.initial = true;
  Problem problem = several_shots(s, 2);
  Propagator plain = problem.propagator();
  plain.forward(problem.shots, 7);
  const State start = plain.state();
  plain.set_state(start);
  const Everything full{{}, {}, every_derivative(plain, problem)};
  for (const Checkpoints plan : {segments(3), revolve(6)}) {
    CAPTURE(text(plan));
    problem.options.storage.checkpoints = plan;
    std::int64_t left = 1 << 30, most = 0, last = 0;
    problem.options.cancel = [&] { return left-- == 0; };
    problem.options.progress = [&](const Progress& p) {
      const std::int64_t now = p.shot * p.steps + p.step;
      if (now < last) throw std::runtime_error("progress went back");
      last = now;
      most = p.steps;
    };
    Propagator propagator = problem.propagator();
    propagator.set_state(start);
    CHECK(different({{}, {}, every_derivative(propagator, problem)}, full) == "");
    const std::int64_t run = storage::predict(plan, s.steps, storage::revolve_stretch(plan.count, 1)).run;
    CHECK(most == run + s.steps);
    for (const std::int64_t polls : {std::int64_t{3}, s.steps + 15, run + s.steps - 2, run + s.steps + 5}) {
      left = polls;
      last = 0;
      CHECK_THROWS_AS(every_derivative(propagator, problem), Cancelled);
      left = 1 << 30;
      last = 0;
      CHECK(different({{}, {}, every_derivative(propagator, problem)}, full) == "");
    }
    // The first step that is run again, after the last stretch has been undone.
    left = s.steps + storage::predict(plan, s.steps, storage::revolve_stretch(plan.count, 1)).longest;
    last = 0;
    CHECK_THROWS_WITH_AS(every_derivative(propagator, problem), doctest::Contains("which ran again"),
                         Cancelled);
  }
}

TEST_CASE("checkpoints: what a plan takes of the device is what estimate says, to the byte") {
  ONDULA_NEEDS_CLANG();
  const auto compiler = make_compiler();
  for (const char* equation : equations_here) {
    std::size_t before = 0;
    for (const Checkpoints plan : {Checkpoints{}, segments(2), segments(7), revolve(3)}) {
      Setting s;
      s.equation = equation;
      s.faces = "fl";
      s.substeps = 2;
      CAPTURE(text(s));
      CAPTURE(text(plan));
      Problem problem = random_problem(s);
      problem.options.compiler = compiler;
      problem.options.storage.checkpoints = plan;
      Propagator propagator = problem.propagator();
      const Estimate estimate = propagator.estimate(problem.shots);
      for (int repeat = 0; repeat < 2; ++repeat) {
        every_derivative(propagator, problem);
        CHECK(propagator.device_bytes_peak() == estimate.gradient_device_bytes);
      }
      if (before > 0) CHECK(estimate.gradient_device_bytes < before);
      before = estimate.gradient_device_bytes;
      problem.options.storage.states = Tier::host;
      Propagator elsewhere = problem.propagator();
      const Estimate other = elsewhere.estimate(problem.shots);
      CHECK(other.gradient_device_bytes == estimate.gradient_device_bytes - estimate.checkpoint_bytes);
      CHECK(different({{}, {}, every_derivative(elsewhere, problem)},
                      {{}, {}, every_derivative(propagator, problem)}) == "");
      CHECK(elsewhere.device_bytes_peak() == other.gradient_device_bytes);
    }
  }
}

TEST_CASE("checkpoints on cuda-sim: bytes are what estimate says, and a limit takes fewer shots at once") {
  ONDULA_NEEDS_STAND_IN();
  const SimDriver driver(untouched());
  Setting s;
  s.dtype = DType::float32;
  s.steps = 50;
  Problem problem = on(several_shots(s, 5), Backend::cuda_sim, sim_compiler());
  problem.options.storage.checkpoints = segments(5);
  problem.options.shot_batch = 4;
  Propagator propagator = problem.propagator();
  const Estimate estimate = propagator.estimate(problem.shots);
  CHECK(estimate.gradient_shots_at_once == 3);  // and 2
  const Everything found{{}, {}, every_derivative(propagator, problem)};
  const double share = static_cast<double>(propagator.device_bytes_peak()) /
                       static_cast<double>(estimate.gradient_device_bytes);
  CHECK(share > 0.95);
  CHECK(share < 1.05);
  problem.options.device_bytes_limit = estimate.gradient_device_bytes * 2 / 3;
  Propagator tight = problem.propagator();
  CHECK(tight.estimate(problem.shots).gradient_shots_at_once < 3);
  CHECK(different({{}, {}, every_derivative(tight, problem)}, found) == "");
}

TEST_CASE("checkpoints: no segments and no states are refused, and estimate says why") {
  for (const Checkpoints plan : {segments(0), revolve(-1)}) {
    Setting s;
    s.backend = Backend::reference;
    Problem problem = random_problem(s);
    problem.options.storage.checkpoints = plan;
    Propagator propagator = problem.propagator();
    CHECK_THROWS_WITH_AS(every_derivative(propagator, problem), doctest::Contains("at least 1 is needed"),
                         UserError);
    problem.options.backend = Backend::host;
    check_mentions(problem.propagator().estimate(problem.shots).gradient_refusal, {"at least 1 is needed"});
    CHECK(propagator.forward(problem.shots).size() == 1);
  }
}

}  // namespace ondula::test
