// Errors of the driver at every call: an exception that names it, nothing left behind, the next run right.
// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>

#include "compiler/error.hpp"
#include "tests/runtime/device/cuda/on_sim.hpp"

namespace ondula::test {
namespace {

/// A few steps of a small grid, with a layer and a free surface.
Problem short_problem(const std::shared_ptr<jit::CudaCompiler>& compiler) {
  Setting s;
  s.dims = 2;
  s.order = 2;
  s.dtype = DType::float32;
  s.faces = "flllll";
  s.steps = 5;
  Problem problem = on(random_problem(s), Backend::cuda_sim, compiler);
  problem.shots[0].receivers.resize(2);
  return problem;
}

/// What a call of the public interface ended with; empty where it went well.
template <class F>
std::string failure(const F& call) {
  try {
    call();
    return "";
  } catch (const RuntimeError& error) {
    return error.what();
  }
}

/// Fails the calls of `work(propagator)` one after the other; `work` gives what it computed.
template <class Work>
void fail_everywhere(const Work& work, int result, std::size_t stride) {
  const auto compiler = sim_compiler();
  const Problem problem = short_problem(compiler);
  const SimDriver driver(untouched());
  const auto once = [&] {
    Propagator propagator = problem.propagator();
    return work(propagator, problem);
  };
  const auto expected = once();
  const std::uint64_t before = driver.calls();
  static_cast<void>(once());
  const std::uint64_t calls = driver.calls() - before;
  REQUIRE(calls > 100);
  std::size_t failed = 0, named = 0;
  std::string wrong;
  for (std::uint64_t n = 1; n <= calls && wrong.empty(); n += stride) {
    driver.fail("*", n, result);
    std::string what;
    {
      Propagator propagator = problem.propagator();
      auto found = expected;
      what = failure([&] { found = work(propagator, problem); });
      // The same object again, the fault being over.
      if (!what.empty()) found = work(propagator, problem);
      const auto different = differences(found, expected);
      if (!different.empty()) wrong = fmt::format("call {}: {}", n, fmt::join(different, "; "));
    }
    if (!leaks(driver).empty()) wrong += fmt::format("call {}, {}: left {}", n, what, leaks(driver));
    failed += what.empty() ? 0 : 1;
    named += what.find(fmt::format(" {} ", result)) != std::string::npos ? 1 : 0;
  }
  CHECK(wrong == "");
  // Queries of names and calls that give things back may fail unheard.
  CHECK(failed * stride > calls / 2);
  CHECK(named * 10 >= failed * 9);
}

Records run(Propagator& propagator, const Problem& problem) { return propagator.forward(problem.shots); }

}  // namespace

TEST_CASE(
    "E19: an error at any call of a run: an exception, no leak, and the same object's next run is right") {
  ONDULA_NEEDS_STAND_IN();
  for (const bool graphs : {true, false}) {
    CAPTURE(graphs);
    use_graphs(graphs);
    fail_everywhere(run, cuda::result::invalid_value, graphs ? 1 : 3);
  }
}

TEST_CASE("E19: a lost device at any call of a run: the context is let go, the next run begins anew") {
  ONDULA_NEEDS_STAND_IN();
  use_graphs(true);
  for (const int lost : {cuda::result::illegal_address, cuda::result::launch_failed, cuda::result::unknown}) {
    CAPTURE(lost);
    fail_everywhere(run, lost, lost == cuda::result::launch_failed ? 1 : 7);
  }
}

TEST_CASE("E19: an error at any call of a gradient: an exception, no leak, the next gradient is right") {
  ONDULA_NEEDS_STAND_IN();
  use_graphs(true);
  const auto work = [](Propagator& propagator, const Problem& problem) {
    return everything(propagator, problem);
  };
  fail_everywhere(work, cuda::result::launch_failed, 11);
  fail_everywhere(work, cuda::result::invalid_value, 13);
}

TEST_CASE("E19: after a lost device another Propagator works, while the first one still lives") {
  ONDULA_NEEDS_STAND_IN();
  use_graphs(true);
  const Problem problem = short_problem(sim_compiler());
  const SimDriver driver(untouched());
  Propagator first = problem.propagator();
  const Records expected = first.forward(problem.shots);
  driver.fail("cuGraphLaunch", 1, cuda::result::launch_failed);
  const std::string what = failure([&] { first.forward(problem.shots); });
  CAPTURE(what);
  CHECK(what.find("cuGraphLaunch(") != std::string::npos);
  CHECK(what.find("719 CUDA_ERROR_LAUNCH_FAILED") != std::string::npos);
  CHECK(what.find("CUDA device 0") != std::string::npos);
  const std::uint64_t calls = driver.calls();
  CHECK_THROWS_WITH_AS(static_cast<void>(first.state()), doctest::Contains("was lost to this run"),
                       RuntimeError);
  CHECK(driver.calls() == calls);
  Propagator second = problem.propagator();
  CHECK(differences(second.forward(problem.shots), expected).empty());
  CHECK(differences(first.forward(problem.shots), expected).empty());
}

TEST_CASE("a device without memory is told of with the bytes asked for, held and free") {
  ONDULA_NEEDS_STAND_IN();
  DriverSetup setup = untouched();
  setup.memory = 1 << 20;
  const SimDriver driver(setup);
  Setting s;
  s.dims = 3;
  Problem problem = on(random_problem(s), Backend::cuda_sim, sim_compiler());
  Propagator propagator = problem.propagator();
  const std::string what = failure([&] { propagator.forward(problem.shots); });
  CAPTURE(what);
  for (const char* word : {"has no memory for", "bytes more: this run holds", "of 1048576 bytes are free"})
    CHECK(what.find(word) != std::string::npos);
  problem.options.device_bytes_limit = 50'000;
  Propagator limited = problem.propagator();
  const std::string refused = failure([&] { limited.forward(problem.shots); });
  CHECK(refused.find("would pass its limit of 50000 bytes") != std::string::npos);
}

}  // namespace ondula::test
