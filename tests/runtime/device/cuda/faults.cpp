// Errors of the driver at every call: an exception that names it, nothing left behind, the next run right.
// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "compiler/error.hpp"
#include "runtime/device/cuda/errors.hpp"
#include "tests/runtime/device/cuda/on_sim.hpp"
#include "tests/support/environment.hpp"

namespace ondula::test {
namespace {

/// A few steps of a small grid, with a layer and a free surface; the second shot runs the graphs of the
/// first.
Problem short_problem(const std::shared_ptr<jit::CudaCompiler>& compiler) {
  Setting s;
  s.dims = 2;
  s.order = 2;
  s.dtype = DType::float32;
  s.faces = "flllll";
  s.steps = 4;
  Problem problem = on(random_problem(s), Backend::cuda_sim, compiler);
  problem.shots[0].sources.resize(1);
  problem.shots[0].receivers.resize(2);
  problem.shots.push_back(problem.shots[0]);
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

/// Whether `call` gives something back, or may belong to that (a destructor waits for a stream): it is done
/// whatever it returns, and nobody is told.
bool releases(const std::string& call) {
  static constexpr std::array<const char*, 11> names = {
      "cuMemFree_v2",        "cuMemFreeHost",       "cuStreamDestroy_v2",          "cuEventDestroy_v2",
      "cuModuleUnload",      "cuGraphDestroy",      "cuGraphExecDestroy",          "cuCtxPopCurrent_v2",
      "cuCtxPushCurrent_v2", "cuStreamSynchronize", "cuDevicePrimaryCtxRelease_v2"};
  return std::find(names.begin(), names.end(), call) != names.end();
}

/// What is wrong with how a work ended, `text` being its error's, whose `name`d call gave `result`.
std::string wrong_end(const std::string& text, const std::string& name, int result) {
  if (name.empty()) return "the fault was not met";
  if (text.empty()) return releases(name) ? "" : "no error came";
  const bool told = text.find(name) != std::string::npos &&
                    text.find(fmt::format(" failed with {} CUDA_ERROR_", result)) != std::string::npos;
  return told ? "" : "the error does not name it";
}

/// Which calls fail: from `first` every `stride`-th.
struct Calls {
  std::uint64_t first = 1, stride = 1;
};

/// Fails calls of `work(propagator, problem)`, and of what its Propagator's end does, one after another.
template <class Work>
void fail_everywhere(const Work& work, int result, const Calls& which = {}) {
  const auto compiler = sim_compiler();
  const Problem problem = short_problem(compiler);
  // Without it a context would take with it all that a run forgot.
  const bool held = !cuda::is_sticky(result);
  DriverSetup setup = untouched();
  setup.context = held;
  const SimDriver driver(setup);
  const std::string nothing = held ? "1 contexts; " : "";
  const auto expected = [&] {
    Propagator propagator = problem.propagator();
    return work(propagator, problem);
  }();
  std::uint64_t during = driver.calls(), calls = during;
  {
    Propagator propagator = problem.propagator();
    static_cast<void>(work(propagator, problem));
    during = driver.calls() - during;
  }
  calls = driver.calls() - calls;
  REQUIRE(during > 100);
  std::string wrong;
  for (std::uint64_t n = which.first; n <= calls && wrong.empty(); n += which.stride) {
    driver.fail("*", n, result);
    std::string text;
    {
      Propagator propagator = problem.propagator();
      auto found = expected;
      text = failure([&] { found = work(propagator, problem); });
      if (n <= during) wrong = wrong_end(text, driver.failed(), result);
      // The same object again, the fault being over.
      if (!text.empty()) found = work(propagator, problem);
      const auto different = differences(found, expected);
      if (!different.empty()) wrong += fmt::format("; the next run: {}", fmt::join(different, ", "));
    }
    if (leaks(driver) != nothing) wrong += fmt::format("; left {}", leaks(driver));
    if (!wrong.empty())
      wrong = fmt::format("call {} of {}, {}: '{}', {}", n, calls, driver.failed(), text, wrong);
  }
  CHECK(wrong == "");
}

const auto forward = [](Propagator& propagator, const Problem& problem) {
  return propagator.forward(problem.shots);
};
const auto gradient = [](Propagator& propagator, const Problem& problem) {
  return Everything{{}, {}, every_derivative(propagator, problem)};
};

}  // namespace

TEST_CASE("E19: an error at any call of a run: an exception that names it, no leak, the next run is right") {
  ONDULA_NEEDS_STAND_IN();
  for (const bool graphs : {true, false}) {
    CAPTURE(graphs);
    use_graphs(graphs);
    fail_everywhere(forward, cuda::result::invalid_value);
  }
}

TEST_CASE("E19: a lost device at any call of a run: the context is let go, the next run begins anew") {
  ONDULA_NEEDS_STAND_IN();
  for (const bool graphs : {true, false}) {
    CAPTURE(graphs);
    use_graphs(graphs);
    fail_everywhere(forward, cuda::result::launch_failed);
    for (const int lost : {cuda::result::illegal_address, cuda::result::unknown})
      fail_everywhere(forward, lost, {1, full_matrices() ? 1U : 7U});
  }
}

TEST_CASE(
    "E19: an error at any call of a gradient: an exception that names it, no leak, the next one is right") {
  ONDULA_NEEDS_STAND_IN();
  // Each call fails in one of the four ways, or in all.
  const std::uint64_t stride = full_matrices() ? 1 : 4;
  std::uint64_t way = 0;
  for (const bool graphs : {true, false}) {
    CAPTURE(graphs);
    use_graphs(graphs);
    for (const int result : {cuda::result::invalid_value, cuda::result::launch_failed})
      fail_everywhere(gradient, result, {1 + way++ % stride, stride});
  }
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
