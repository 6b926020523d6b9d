// Several devices, threads, contexts and streams of the caller; devices of every age.
// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <thread>

#include "compiler/error.hpp"
#include "tests/runtime/device/cuda/on_sim.hpp"

namespace ondula::test {
namespace {

Setting small(int dims = 2) {
  Setting s;
  s.dims = dims;
  s.dtype = DType::float32;
  s.steps = 30;
  return s;
}

}  // namespace

TEST_CASE("C25: two devices and four threads of one process: each the host's bits") {
  ONDULA_NEEDS_STAND_IN();
  DriverSetup setup = untouched();
  setup.devices = 2;
  const SimDriver driver(setup);
  constexpr std::array<const char*, 2> equations = {"acoustic", "elastic"};
  std::array<std::string, 4> wrong;
  std::array<Problem, 4> problems;
  std::array<Everything, 4> expected;
  for (std::size_t t = 0; t < problems.size(); ++t) {
    Setting s = small();
    s.equation = equations[t / 2];
    s.seed = 10 + t;
    problems[t] = random_problem(s);
    expected[t] = everything(problems[t]);
    problems[t].options.device = static_cast<int>(t % 2);
  }
  const auto compiler = sim_compiler();
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < problems.size(); ++t) {
    threads.emplace_back([&, t] {
      try {
        for (int repeat = 0; repeat < 3; ++repeat) {
          const Everything found = everything(on(problems[t], Backend::cuda_sim, compiler));
          wrong[t] += fmt::format("{}", fmt::join(differences(found, expected[t]), "; "));
        }
      } catch (const std::exception& error) {
        wrong[t] = error.what();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::string& text : wrong) CHECK(text == "");
  CHECK(leaks(driver) == "");
}

TEST_CASE("C25: two Propagators in turns on two devices, and a device that is not there") {
  ONDULA_NEEDS_STAND_IN();
  DriverSetup setup = untouched();
  setup.devices = 2;
  const SimDriver driver(setup);
  Problem problem = on(random_problem(small()), Backend::cuda_sim, sim_compiler());
  const Records expected = on(problem, Backend::host).propagator().forward(problem.shots);
  Propagator first = problem.propagator();
  problem.options.device = 1;
  Propagator second = problem.propagator();
  for (int turn = 0; turn < 2; ++turn) {
    CHECK(differences(first.forward(problem.shots), expected).empty());
    CHECK(differences(second.forward(problem.shots), expected).empty());
  }
  problem.options.device = 2;
  Propagator third = problem.propagator();
  CHECK_THROWS_WITH_AS(third.compile(), doctest::Contains("there is no CUDA device 2; there are: 0 ("),
                       UserError);
}

TEST_CASE("the caller's context stays current, and kernels go in the order of the caller's stream") {
  ONDULA_NEEDS_STAND_IN();
  const SimDriver driver({.mode = ONDULA_SIM_SHUFFLE, .seed = 5});  // a context of ours is current
  Problem problem = on(random_problem(small()), Backend::cuda_sim, sim_compiler());
  const Records expected = on(problem, Backend::host).propagator().forward(problem.shots);
  cuda::Context own = nullptr, now = nullptr;
  REQUIRE(driver.context_create(&own, 0, 0) == 0);
  for (const bool graphs : {true, false}) {
    use_graphs(graphs);
    problem.options.stream = nullptr;
    CHECK(differences(problem.propagator().forward(problem.shots), expected).empty());
    REQUIRE(driver.context_current(&now) == 0);
    CHECK(now == own);
  }
  REQUIRE(driver.context_push(driver.context) == 0);
  problem.options.stream = driver.stream();
  CHECK(differences(problem.propagator().forward(problem.shots), expected).empty());
  CHECK(driver.report() == "");
}

TEST_CASE("C20: one build runs on devices of any age, with the same bits") {
  ONDULA_NEEDS_STAND_IN();
  const auto compiler = sim_compiler();
  for (const int dims : {2, 3}) {
    const Problem problem = random_problem(small(dims));
    const Records expected = problem.propagator().forward(problem.shots);
    for (const int capability : {75, 80, 90, 120}) {
      CAPTURE(capability);
      DriverSetup setup = untouched();
      setup.capability = capability;
      const SimDriver driver(setup);
      Problem own = on(problem, Backend::cuda_sim, compiler);
      CHECK(differences(own.propagator().forward(problem.shots), expected).empty());
    }
  }
}

TEST_CASE("C16: a device newer than NVRTC knows gets PTX, one older than all is refused with the range") {
  ONDULA_NEEDS_STAND_IN();
  const auto compiler = sim_compiler();
  Problem problem = on(random_problem(small()), Backend::cuda_sim, compiler);
  const Records expected = on(problem, Backend::host).propagator().forward(problem.shots);
  DriverSetup setup = untouched();
  setup.capability = 990;
  {
    const SimDriver driver(setup);
    CHECK(differences(problem.propagator().forward(problem.shots), expected).empty());
  }
  setup.capability = 21;
  const SimDriver driver(setup);
  CHECK_THROWS_WITH_AS(problem.propagator().forward(problem.shots),
                       doctest::Contains("compute capability 2.1; this NVRTC compiles for sm_75"), UserError);
}

TEST_CASE(
    "C17: a driver that refuses the kernels: both versions and what to do, and a newer minor one is fine") {
  ONDULA_NEEDS_STAND_IN();
  const auto compiler = sim_compiler();
  const Problem problem = on(random_problem(small()), Backend::cuda_sim, compiler);
  const auto what = [&]() -> std::string {
    try {
      problem.propagator().forward(problem.shots);
      return "";
    } catch (const RuntimeError& error) {
      return error.what();
    }
  };
  {
    const SimDriver driver(untouched());
    CHECK(what() == "");
    for (const int refusal : {cuda::result::no_binary_for_gpu, cuda::result::unsupported_ptx_version,
                              cuda::result::driver_too_old}) {
      driver.fail("cuModuleLoadDataEx", 1, refusal);
      const std::string text = what();
      CAPTURE(text);
      CHECK(text.find("compiled by NVRTC 13.0; the driver supports CUDA up to 13.0") != std::string::npos);
      CHECK(text.find("CUDA_HOME to a CUDA 13.x toolkit") != std::string::npos);
    }
    CHECK(what() == "");
  }
  const SimDriver driver(untouched());
  driver.configure(1, -1, 0, 12040, -1);
  const std::string text = what();
  CAPTURE(text);
  CHECK(text.find("the driver supports CUDA up to 12.4") != std::string::npos);
  CHECK(text.find("were compiled by NVRTC 13.0") != std::string::npos);
  CHECK(text.find("set CUDA_HOME to a CUDA 12.x toolkit") != std::string::npos);
}

TEST_CASE("C18: NVRTC without its builtins: the error names the file and the places, the host still works") {
  ONDULA_NEEDS_STAND_IN();
  const SimDriver driver(untouched());
  jit::CacheOptions off;
  off.directory = "off";
  Problem problem = on(random_problem(small()), Backend::cuda_sim, sim_compiler(off));
  constexpr int builtins_failed = 7;
  driver.fail("nvrtcCompileProgram", 1, builtins_failed);
  std::string text;
  try {
    problem.propagator().forward(problem.shots);
  } catch (const RuntimeError& error) {
    text = error.what();
  }
  CAPTURE(text);
  CHECK(text.find("libnvrtc-builtins.so.13.0") != std::string::npos);
  CHECK(text.find("Looked in") != std::string::npos);
  CHECK(on(problem, Backend::host).propagator().forward(problem.shots).size() == 1);
  CHECK(problem.propagator().forward(problem.shots).size() == 1);
}

TEST_CASE("a driver that is missing, old, or none: what is wrong and what to do") {
  ONDULA_NEEDS_STAND_IN();
  const auto problem = [](const std::string& library) { return cuda::inspect_driver(library).problem; };
  CHECK(problem("/no/libcuda.so.1").find("/no/libcuda.so.1 cannot be opened, the NVIDIA driver's library") ==
        0);
  CHECK(problem("libm.so.6").find("lacks cuInit: it is no CUDA driver") != std::string::npos);
  const std::string stand_in = cuda::stand_in_library();
  const SimDriver driver(untouched());
  CHECK(problem(stand_in) == "");
  driver.configure(1, -1, 0, 11020, -1);
  CHECK(problem(stand_in).find("supports CUDA up to 11.2, and Ondula needs a driver for 11.4 or newer") !=
        std::string::npos);
  driver.configure(0, -1, 0, 13000, -1);
  CHECK(problem(stand_in).find("no CUDA device") != std::string::npos);
  driver.configure(1, -1, 0, -1, -1);
  driver.fail("cuInit", 1, cuda::result::stub_library);
  CHECK(problem(stand_in).find("stub for linking, not a driver") != std::string::npos);
}

}  // namespace ondula::test
