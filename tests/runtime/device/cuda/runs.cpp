// Runs on the CUDA device as people make them: many shots under a cap, chunks, callbacks, no receivers, NaN.
// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <limits>

#include "compiler/error.hpp"
#include "tests/runtime/device/cuda/on_sim.hpp"
#include "tests/runtime/propagator/small.hpp"
#include "tests/support/compare.hpp"

namespace ondula::test {
namespace {

Setting small(const std::string& equation = "acoustic", int dims = 2) {
  Setting s;
  s.equation = equation;
  s.dims = dims;
  s.dtype = DType::float32;
  s.steps = 60;
  return s;
}

/// The same shot with wavelets and receivers that get fewer or more.
std::vector<Shot> varied(const Shot& shot, std::size_t count) {
  std::vector<Shot> shots;
  for (std::size_t k = 0; k < count; ++k) {
    Shot own = shot;
    own.sources.resize(1 + k % own.sources.size());
    for (double& v : own.sources[0].wavelet) v *= 1 + 0.1 * static_cast<double>(k);
    own.receivers.resize(1 + (7 * k) % own.receivers.size());
    shots.push_back(std::move(own));
  }
  return shots;
}

}  // namespace

TEST_CASE("B8: 20 shots at 60 % of a capped pool, forward and gradient: all succeed, and memory stays") {
  ONDULA_NEEDS_STAND_IN();
  const SimDriver driver(untouched());
  Problem problem = on(random_problem(small()), Backend::cuda_sim, sim_compiler());
  problem.shots = varied(problem.shots[0], 20);
  const Everything expected = everything(on(problem, Backend::host));
  std::size_t peak = 0;
  {
    Propagator propagator = problem.propagator();
    static_cast<void>(everything(propagator, problem));
    peak = propagator.device_bytes_peak();
  }
  REQUIRE(peak > 0);
  problem.options.device_bytes_limit = peak * 10 / 6;
  Propagator propagator = problem.propagator();
  CHECK(fmt::format("{}", fmt::join(differences(everything(propagator, problem), expected), "; ")) == "");
  const std::uint64_t once = driver.live().bytes;
  for (int repeat = 0; repeat < 3; ++repeat)
    CHECK(differences(propagator.forward(problem.shots), expected.records).empty());
  static_cast<void>(everything(propagator, problem));
  CHECK(driver.live().bytes == once);
  CHECK(driver.live().peak_bytes <= problem.options.device_bytes_limit + peak);  // the first Propagator's too
}

TEST_CASE("shots of a call reuse the graphs of steps, which no longer fit only where points grow") {
  ONDULA_NEEDS_STAND_IN();
  use_graphs(true);
  const SimDriver driver(untouched());
  Problem problem = on(random_problem(small()), Backend::cuda_sim, sim_compiler());
  Propagator propagator = problem.propagator();
  static_cast<void>(propagator.forward(problem.shots));
  const std::uint64_t graphs = driver.live().execs;
  CHECK(graphs == 2);  // 48 steps, and the 12 that remain
  const std::uint64_t before = driver.calls();
  static_cast<void>(propagator.forward(problem.shots));
  const std::uint64_t again = driver.calls() - before;
  CHECK(driver.live().execs == graphs);
  // 60 steps of a launch or more each come as two graphs.
  CHECK(again < 150);
  Shot fewer = problem.shots[0];
  fewer.receivers.resize(2);
  const std::vector<Shot> shots = {fewer, problem.shots[0]};
  const Records expected = on(problem, Backend::host).propagator().forward(shots);
  CHECK(differences(propagator.forward(shots), expected).empty());
  CHECK(driver.live().execs == graphs);
}

TEST_CASE("B15: estimate's device bytes are within 5 % of what a CUDA device holds at most") {
  ONDULA_NEEDS_STAND_IN();
  const SimDriver driver(untouched());
  for (const char* equation : {"acoustic", "elastic"}) {
    for (const int dims : {1, 2}) {
      CAPTURE(equation);
      CAPTURE(dims);
      Setting s = small(equation, dims);
      s.faces = "flllll";
      s.steps = 10;
      const Problem problem = on(random_problem(s), Backend::cuda_sim, sim_compiler());
      Propagator propagator = problem.propagator();
      const Estimate estimate = propagator.estimate(problem.shots);
      CHECK(estimate.device_bytes > 0);
      CHECK(driver.live().allocations == 0);
      static_cast<void>(propagator.forward(problem.shots));
      const auto peak = static_cast<double>(propagator.device_bytes_peak());
      CHECK(static_cast<double>(estimate.device_bytes) == doctest::Approx(peak).epsilon(0.05));
    }
  }
  PropagatorOptions options = small_options();
  options.backend = Backend::cuda_sim;
  Propagator propagator(equations::acoustic(), small_grid(2, 80), options);
  propagator.set_model("vp", 2000.0);
  const Shot shot = small_shot(2);
  const auto predicted = static_cast<double>(propagator.estimate({&shot, 1}).gradient_device_bytes);
  static_cast<void>(propagator.gradient(
      {&shot, 1},
      [](std::int64_t, const std::map<std::string, Traces>& records) { return Misfit{0, records}; }));
  CHECK(predicted == doctest::Approx(static_cast<double>(propagator.device_bytes_peak())).epsilon(0.05));
}

TEST_CASE(
    "a CUDA run in chunks is the whole one, callbacks see the host's fields, and states go back and forth") {
  ONDULA_NEEDS_STAND_IN();
  const SimDriver driver(untouched(ONDULA_SIM_SHUFFLE, 3));
  for (const int substeps : {1, 2}) {
    Setting s = small("elastic");
    s.substeps = substeps;
    const Problem problem = random_problem(s);
    const auto compiler = sim_compiler();
    std::map<std::int64_t, std::vector<double>> seen;
    Records whole;
    for (const Backend backend : {Backend::host, Backend::cuda_sim}) {
      Propagator propagator = on(problem, backend, compiler).propagator();
      propagator.on_step(7, [&](const StepView& view) {
        const std::vector<double> field = view.field("v.z");
        if (backend == Backend::host)
          seen[view.step] = field;
        else
          CHECK(seen.at(view.step) == field);
      });
      const Records records = propagator.forward(problem.shots);
      if (backend == Backend::host) whole = records;
      CHECK(differences(records, whole).empty());
    }
    CHECK(seen.size() == 9);
    Propagator chunks = on(problem, Backend::cuda_sim, compiler).propagator();
    std::int64_t at = 0;
    for (const std::int64_t count : {17, 3, 40}) {
      const Records part = chunks.forward(problem.shots, count);
      const State state = chunks.state();
      CHECK(state.step() == at + count);
      chunks.set_state(state);
      for (const auto& [field, traces] : part[0]) {
        const Traces& all = whole[0].at(field);
        bool same = true;
        for (std::int64_t r = 0; r < traces.receivers; ++r) {
          for (std::int64_t n = 0; n < count; ++n)
            same = same && traces.data[static_cast<std::size_t>(r * count + n)] ==
                               all.data[static_cast<std::size_t>(r * all.samples + at + n)];
        }
        CHECK(same);
      }
      at += count;
    }
  }
}

TEST_CASE("a CUDA run is cancelled between chunks, tells its progress, and goes on afterwards") {
  ONDULA_NEEDS_STAND_IN();
  const SimDriver driver(untouched());
  Problem problem = on(random_problem(small()), Backend::cuda_sim, sim_compiler());
  problem.options.steps = 200;
  const Records expected = on(problem, Backend::host).propagator().forward(problem.shots);
  bool stop = true;
  std::int64_t told = 0;
  problem.options.progress = [&](const Progress& progress) { told = progress.step; };
  problem.options.cancel = [&] { return stop && told >= 96; };
  Propagator propagator = problem.propagator();
  CHECK_THROWS_AS(propagator.forward(problem.shots), Cancelled);
  CHECK(told == 96);
  CHECK(propagator.state().step() == 96);
  stop = false;
  CHECK(differences(propagator.forward(problem.shots), expected).empty());
  CHECK(told == 200);
}

TEST_CASE("E7: no receivers on every backend: the run completes, and there is no record") {
  ONDULA_NEEDS_STAND_IN();
  const SimDriver driver(untouched());
  Problem problem = random_problem(small());
  problem.shots[0].receivers.clear();
  std::vector<double> field;
  for (const Backend backend : {Backend::host, Backend::cuda_sim}) {
    Propagator propagator = on(problem, backend, sim_compiler()).propagator();
    const Records records = propagator.forward(problem.shots);
    REQUIRE(records.size() == 1);
    CHECK(records[0].empty());
    const std::vector<double> now = propagator.state().at("u");
    if (backend == Backend::host) field = now;
    CHECK(now == field);
    CHECK(max_abs(now) > 0);
  }
}

TEST_CASE("A21: 50 sources in one cell are their sum, with the same bits on every device and in every run") {
  ONDULA_NEEDS_STAND_IN();
  const SimDriver driver(untouched(ONDULA_SIM_SHUFFLE, 11));
  Problem problem = random_problem(small());
  Shot& shot = problem.shots[0];
  Source source = shot.sources[0];
  source.position = {80 - 0.0, 100 - 20.0};
  shot.sources.clear();
  std::vector<double> sum(source.wavelet.size());
  for (int k = 0; k < 50; ++k) {
    for (std::size_t n = 0; n < sum.size(); ++n) {
      source.wavelet[n] = std::sin(0.3 * static_cast<double>(n) + k) / (1 + k);
      sum[n] += source.wavelet[n];
    }
    shot.sources.push_back(source);
  }
  const Records host = problem.propagator().forward(problem.shots);
  for (int repeat = 0; repeat < 2; ++repeat) {
    const Problem own = on(problem, Backend::cuda_sim, sim_compiler());
    CHECK(differences(own.propagator().forward(problem.shots), host).empty());
  }
  source.wavelet = sum;
  shot.sources = {source};
  const Records single = problem.propagator().forward(problem.shots);
  for (const auto& [field, traces] : single[0])
    CHECK(relative_l2(host[0].at(field).data, traces.data) < 1e-5);
}

TEST_CASE("A9: 48 cubed with layers, five runs on cuda-sim, shuffled: the same bits as the host's") {
  ONDULA_NEEDS_STAND_IN();
  DriverSetup setup = untouched();
  setup.memory = 256 << 20;
  PropagatorOptions options = small_options();
  options.steps = 12;
  options.order = 8;
  const Grid grid = small_grid(3, 48, {FaceKind::absorbing, 6});
  const Shot shot = small_shot(3);
  Records expected;
  const auto compiler = sim_compiler();
  for (int run = 0; run < 6; ++run) {
    if (run > 0) {
      options.backend = Backend::cuda_sim;
      options.cuda_compiler = compiler;
    }
    setup.mode = run < 4 ? ONDULA_SIM_FAST : ONDULA_SIM_SHUFFLE;
    setup.seed = static_cast<std::uint64_t>(run);
    const SimDriver driver(setup);
    Propagator propagator(equations::acoustic(), grid, options);
    propagator.set_model("vp", 2000.0);
    const Records records = propagator.forward({&shot, 1});
    if (run == 0) expected = records;
    CHECK(max_abs(records[0].at("u").data) > 0);
    CHECK(differences(records, expected).empty());
  }
}

TEST_CASE("E14: a field that turns NaN stops a CUDA run within 100 steps, and the next run is right") {
  ONDULA_NEEDS_STAND_IN();
  const SimDriver driver(untouched());
  Problem problem = on(random_problem(small()), Backend::cuda_sim, sim_compiler());
  problem.options.steps = 2000;
  problem.options.dtype = DType::float32;
  const Shot good = problem.shots[0];
  for (Source& source : problem.shots[0].sources) source.wavelet.assign(400, 0.0);
  // Too large for the working type, hence infinite there.
  problem.shots[0].sources[0].wavelet[300] = 1e300;
  Propagator propagator = problem.propagator();
  std::int64_t told = 0;
  CHECK_THROWS_WITH_AS(propagator.forward(problem.shots), doctest::Contains("is no longer finite"),
                       RuntimeError);
  told = propagator.state().step();
  CHECK(told > 300);
  CHECK(told <= 400);
  problem.shots[0] = good;
  const Records expected = on(problem, Backend::host).propagator().forward(problem.shots, 60);
  CHECK(differences(propagator.forward(problem.shots, 60), expected).empty());
}

}  // namespace ondula::test
