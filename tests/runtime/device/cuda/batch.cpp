// Shots that run at once: the bits of one after the other, in as many launches as one shot takes.
// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <limits>

#include "compiler/error.hpp"
#include "tests/runtime/device/cuda/on_sim.hpp"
#include "tests/runtime/gradient/born.hpp"
#include "tests/runtime/gradient/pairs.hpp"
#include "tests/runtime/propagator/small.hpp"
#include "tests/support/environment.hpp"
#include "tests/support/messages.hpp"

namespace ondula::test {
namespace {

constexpr std::array<const char*, 3> equations_here = {"acoustic", "acoustic_density", "elastic"};

/// Shots with other wavelets, other numbers of sources and of receivers, one of them without any receiver.
std::vector<Shot> unequal(const Shot& shot, std::size_t count) {
  std::vector<Shot> shots;
  for (std::size_t k = 0; k < count; ++k) {
    Shot own = shot;
    own.sources.resize(1 + (k + 2) % own.sources.size());
    for (double& v : own.sources[0].wavelet) v *= 1 + 0.1 * static_cast<double>(k);
    own.receivers.resize(k == 1 ? 0 : 1 + (5 * k + 2) % own.receivers.size());
    shots.push_back(std::move(own));
  }
  return shots;
}

/// One way to run.
struct Way {
  int batch = 0;
  int mode = ONDULA_SIM_FAST;
  std::uint64_t seed = 0;
  bool graphs = true;
  std::string text() const {
    return fmt::format("batch {}, mode {}, seed {}, graphs {}", batch, mode, seed, graphs);
  }
};

void same_as_host(const Problem& problem, const std::vector<Way>& ways) {
  const Everything host = everything(problem);
  const auto compiler = sim_compiler();
  for (const Way& way : ways) {
    CAPTURE(way.text());
    use_graphs(way.graphs);
    const SimDriver driver(untouched(way.mode, way.seed));
    {
      Problem own = on(problem, Backend::cuda_sim, compiler);
      own.options.shot_batch = way.batch;
      own.options.poison = way.mode == ONDULA_SIM_CHECK;
      CHECK(fmt::format("{}", fmt::join(differences(everything(own), host), "; ")) == "");
    }
    CHECK(leaks(driver) == "");
    CHECK(driver.report() == "");
  }
}

/// Levels: equation, dimensions, type, faces, substeps.
Setting setting_of(const Row& row) {
  Setting s;
  s.equation = equations_here[row[0]];
  s.dims = static_cast<int>(row[1]) + 1;
  s.order = s.dims == 3 ? 2 : 4;
  s.dtype = row[2] == 0 ? DType::float32 : DType::float64;
  s.faces = row[3] == 0 ? "l" : "flllll";
  s.substeps = static_cast<int>(row[4]) + 1;
  s.initial = true;
  s.steps = s.dims == 3 ? 7 : 50;  // more than one graph
  s.seed = 40 + row[1];
  return s;
}

std::uint64_t launches(const SimDriver& driver) {
  std::array<ondula_sim_kernel, 64> kernels;
  const int count = driver.counters(kernels.data(), static_cast<int>(kernels.size()));
  std::uint64_t sum = 0;
  for (int k = 0; k < count; ++k) sum += kernels[static_cast<std::size_t>(k)].launches;
  return sum;
}

Problem small(int dims, std::size_t shots) {
  Setting s;
  s.dims = dims;
  s.dtype = DType::float32;
  s.steps = 30;
  Problem problem = random_problem(s);
  problem.shots = unequal(problem.shots[0], shots);
  return problem;
}

MisfitFunction squares() {
  return [](std::int64_t, const std::map<std::string, Traces>& records) { return Misfit{0, records}; };
}

}  // namespace

TEST_CASE("shots at once: every equation's records, states and gradients are those of one after the other") {
  ONDULA_NEEDS_STAND_IN();
  const auto all = [](const Row&) { return true; };
  const std::vector<std::size_t> levels = {equations_here.size(), 3, 2, 2, 2};
  for (const Row& row : full_matrices() ? whole_matrix(levels, all) : cover_by_pairs(levels, all)) {
    const Setting setting = setting_of(row);
    CAPTURE(text(setting));
    Problem problem = random_problem(setting);
    problem.shots = unequal(problem.shots[0], 5);
    // All 5; 3 and 2.
    same_as_host(problem, {{0, ONDULA_SIM_SHUFFLE, 1 + row[1]}, {4, ONDULA_SIM_SHUFFLE, 5 + row[0], false}});
  }
}

TEST_CASE("shots at once: check mode finds nothing") {
  ONDULA_NEEDS_STAND_IN();
  for (std::size_t equation = 0; equation < equations_here.size(); ++equation) {
    Setting setting;
    setting.equation = equations_here[equation];
    setting.dims = equation == 0 ? 3 : 2;
    setting.order = 2;
    setting.faces = "flllll";
    setting.dtype = DType::float32;
    setting.steps = setting.dims == 3 ? 3 : 6;
    setting.initial = true;
    CAPTURE(text(setting));
    Problem problem = random_problem(setting);
    problem.shots = unequal(problem.shots[0], 3);
    same_as_host(problem, {{2, ONDULA_SIM_CHECK, 1, equation != 1}});
  }
}

TEST_CASE("shots at once: in 3-D strips of rows and shots share an axis of the blocks") {
  ONDULA_NEEDS_STAND_IN();
  for (const std::int64_t rows : {70, 140}) {  // 2 strips, and 3 where 4 are counted
    CAPTURE(rows);
    PropagatorOptions options = small_options();
    options.steps = 12;
    options.order = 2;
    options.dtype = DType::float32;
    Grid grid = small_grid(3, 9, {FaceKind::absorbing, 3});
    grid.shape[1] = rows;
    Shot shot = small_shot(3);
    for (Source& source : shot.sources) source.position = {30, 50, 40};
    for (Receiver& receiver : shot.receivers) receiver.position = {40, 62.5, 30};
    std::vector<Shot> shots(4, shot);
    for (std::size_t k = 0; k < shots.size(); ++k)
      shots[k].sources[0].position[1] = 10.0 * static_cast<double>(rows - 3) * static_cast<double>(k) / 3;
    const auto run = [&](Backend backend, int batch) {
      options.backend = backend;
      options.shot_batch = batch;
      Propagator propagator(equations::acoustic(), grid, options);
      propagator.set_model("vp", 2000.0);
      Everything all;
      all.records = propagator.forward(shots);
      all.gradient = propagator.gradient(shots, squares());
      return all;
    };
    const Everything host = run(Backend::host, 0);
    const SimDriver driver(untouched());
    CHECK(fmt::format("{}", fmt::join(differences(run(Backend::cuda_sim, 0), host), "; ")) == "");
    CHECK(fmt::format("{}", fmt::join(differences(run(Backend::cuda_sim, 3), host), "; ")) == "");
  }
}

TEST_CASE("shots at once: linearised records and the Gauss-Newton product are those of one after the other") {
  ONDULA_NEEDS_STAND_IN();
  for (const char* equation : equations_here) {
    Setting setting;
    setting.equation = equation;
    setting.dtype = DType::float32;
    setting.faces = "flll";
    setting.steps = 30;
    CAPTURE(text(setting));
    BornSetup born(setting);
    born.problem.shots = unequal(born.problem.shots[0], 3);
    const auto run = [&](Backend backend, int batch) {
      Problem own = on(born.problem, backend);
      own.options.shot_batch = batch;
      Propagator propagator = own.propagator();
      Everything all;
      all.records = propagator.born(own.shots, born.perturbation);
      all.gradient = propagator.gauss_newton(own.shots, born.perturbation);
      return all;
    };
    const Everything host = run(Backend::host, 0);
    const SimDriver driver(untouched(ONDULA_SIM_SHUFFLE, 7));
    CHECK(fmt::format("{}", fmt::join(differences(run(Backend::cuda_sim, 0), host), "; ")) == "");
    CHECK(fmt::format("{}", fmt::join(differences(run(Backend::cuda_sim, 2), host), "; ")) == "");
  }
}

TEST_CASE(
    "shots at once: four take the launches of one, and the last batch, though shorter, new graphs only") {
  ONDULA_NEEDS_STAND_IN();
  use_graphs(true);
  const SimDriver driver(untouched());
  const auto compiler = sim_compiler();
  const auto equal = [&](std::size_t shots, int batch) {
    Problem problem = on(small(2, 1), Backend::cuda_sim, compiler);
    problem.options.shot_batch = batch;
    problem.shots.assign(shots, problem.shots[0]);
    return problem;
  };
  const auto counted = [&](std::size_t shots, int batch, bool gradient) {
    const Problem problem = equal(shots, batch);
    Propagator propagator = problem.propagator();
    driver.clear_counters();
    if (gradient)
      static_cast<void>(propagator.gradient(problem.shots, squares()));
    else
      static_cast<void>(propagator.forward(problem.shots));
    return launches(driver);
  };
  for (const bool gradient : {false, true}) {
    CAPTURE(gradient);
    const std::uint64_t one = counted(1, 0, gradient);
    CHECK(one > 30 * 4);
    CHECK(counted(4, 0, gradient) == one);
    CHECK(counted(4, 1, gradient) == 4 * one);
    CHECK(counted(5, 3, gradient) == 2 * one);
  }
  const Problem problem = equal(5, 3);
  Propagator propagator = problem.propagator();
  static_cast<void>(propagator.forward(problem.shots));
  CHECK(driver.live().execs == 2);  // 30 steps of three shots, and of two
  const std::uint64_t before = driver.calls();
  static_cast<void>(propagator.forward(problem.shots));
  CHECK(driver.live().execs == 2);
  CHECK(driver.calls() - before < 200);
}

TEST_CASE("B15: shots at once: estimate says how many, and bytes within 5 % of what the device holds") {
  ONDULA_NEEDS_STAND_IN();
  const SimDriver driver(untouched());
  const auto compiler = sim_compiler();
  for (const int batch : {0, 1, 2, 3}) {
    CAPTURE(batch);
    Problem problem = on(small(2, 5), Backend::cuda_sim, compiler);
    problem.options.shot_batch = batch;
    Propagator propagator = problem.propagator();
    const Estimate estimate = propagator.estimate(problem.shots);
    CHECK(estimate.shots_at_once == (batch == 0 ? 5 : batch));
    CHECK(estimate.gradient_shots_at_once == estimate.shots_at_once);
    static_cast<void>(propagator.forward(problem.shots));
    CHECK(static_cast<double>(estimate.device_bytes) ==
          doctest::Approx(static_cast<double>(propagator.device_bytes_peak())).epsilon(0.05));
    static_cast<void>(propagator.gradient(problem.shots, squares()));
    CHECK(static_cast<double>(estimate.gradient_device_bytes) ==
          doctest::Approx(static_cast<double>(propagator.device_bytes_peak())).epsilon(0.05));
  }
}

TEST_CASE("shots at once: as many as the limit of device memory leaves room for, with the same bits") {
  ONDULA_NEEDS_STAND_IN();
  const SimDriver driver(untouched());
  Problem problem = on(small(2, 6), Backend::cuda_sim, sim_compiler());
  const Everything host = everything(on(problem, Backend::host));
  problem.options.shot_batch = 2;
  const std::size_t two = problem.propagator().estimate(problem.shots).gradient_device_bytes;
  problem.options.shot_batch = 0;
  problem.options.device_bytes_limit = two * 21 / 20;
  Propagator propagator = problem.propagator();
  const Estimate estimate = propagator.estimate(problem.shots);
  CHECK(estimate.gradient_shots_at_once == 2);
  CHECK(estimate.shots_at_once > 2);  // without a history there is room
  CHECK(estimate.device_bytes <= problem.options.device_bytes_limit);
  CHECK(fmt::format("{}", fmt::join(differences(everything(propagator, problem), host), "; ")) == "");
  CHECK(propagator.device_bytes_peak() <= problem.options.device_bytes_limit);
}

TEST_CASE(
    "shots at once: fewer where others hold the device's memory; where one has no room the error says so") {
  ONDULA_NEEDS_STAND_IN();
  DriverSetup setup = untouched();
  setup.context = true;
  const SimDriver driver(setup);
  Problem problem = on(small(2, 6), Backend::cuda_sim, sim_compiler());
  const Everything host = everything(on(problem, Backend::host));
  const Estimate estimate = problem.propagator().estimate(problem.shots);
  REQUIRE(estimate.gradient_shots_at_once == 6);
  std::size_t free_bytes = 0, all = 0;
  REQUIRE(driver.memory_info(&free_bytes, &all) == 0);
  const std::size_t left = estimate.gradient_device_bytes / 2;
  const cuda::DevicePointer taken = driver.allocate_bytes(free_bytes - left);
  {
    Propagator propagator = problem.propagator();
    CHECK(fmt::format("{}", fmt::join(differences(everything(propagator, problem), host), "; ")) == "");
    CHECK(propagator.device_bytes_peak() < left);
  }
  REQUIRE(driver.memory_info(&free_bytes, &all) == 0);
  const cuda::DevicePointer rest = driver.allocate_bytes(free_bytes - 1000);
  CHECK_THROWS_AS(static_cast<void>(problem.propagator().forward(problem.shots)), RuntimeError);
  CHECK(driver.free(rest) == 0);
  CHECK(driver.free(taken) == 0);
}

TEST_CASE("shots at once: a callback of steps sees one shot after the other; state is the last shot's") {
  ONDULA_NEEDS_STAND_IN();
  const SimDriver driver(untouched());
  const Problem problem = small(2, 3);
  std::array<std::vector<std::pair<std::int64_t, std::int64_t>>, 2> seen;
  std::array<Arrays, 2> states;
  for (std::size_t k = 0; k < 2; ++k) {
    Propagator propagator = on(problem, k == 0 ? Backend::host : Backend::cuda_sim).propagator();
    static_cast<void>(propagator.forward(problem.shots));
    states[k] = propagator.state().fields();
    propagator.on_step(10, [&](const StepView& view) { seen[k].emplace_back(view.shot, view.step); });
    static_cast<void>(propagator.forward(problem.shots));
    CHECK(propagator.state().fields() == states[k]);
  }
  CHECK(seen[0] == seen[1]);
  CHECK(states[0] == states[1]);
}

TEST_CASE("shots at once: the shot that is no longer finite is named, and progress never goes back") {
  ONDULA_NEEDS_STAND_IN();
  const SimDriver driver(untouched());
  Problem problem = on(small(2, 4), Backend::cuda_sim, sim_compiler());
  std::vector<double> told;
  problem.options.progress = [&](const Progress& p) {
    CHECK(p.shots == 4);
    told.push_back(static_cast<double>(p.shot * p.steps + p.step));
  };
  Propagator propagator = problem.propagator();
  static_cast<void>(propagator.forward(problem.shots));
  CHECK(std::is_sorted(told.begin(), told.end()));
  CHECK(told.back() == 4 * 30);
  problem.shots[2].sources[0].wavelet[3] = std::numeric_limits<double>::max();
  CHECK(holds(message_of<RuntimeError>([&] { static_cast<void>(propagator.forward(problem.shots)); }),
              "shot 2"));
  problem.shots[2].sources[0].wavelet[3] = 0;
  const Records expected = on(problem, Backend::host).propagator().forward(problem.shots);
  CHECK(differences(propagator.forward(problem.shots), expected).empty());
}

}  // namespace ondula::test
