// Runs on the stand-in driver, compared with the host's bit for bit.
// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "runtime/device/cuda/library.hpp"
#include "runtime/jit/cuda_compiler.hpp"
#include "tests/runtime/device/sim/sim_driver.hpp"
#include "tests/runtime/gradient/problem.hpp"
#include "tests/support/skip.hpp"

namespace ondula::test {

/// The stand-in as a program finds it: nothing retained. Propagators must go before it does.
inline DriverSetup untouched(int mode = ONDULA_SIM_FAST, std::uint64_t seed = 0) {
  return {.mode = mode, .seed = seed, .context = false};
}

/// Whether steps are captured: ONDULA_CUDA_GRAPHS of this process.
void use_graphs(bool graphs);

/// The compiler of backend cuda-sim.
std::shared_ptr<jit::CudaCompiler> sim_compiler(const jit::CacheOptions& cache = {});

/// What a run and a gradient leave.
struct Everything {
  Records records;
  Arrays state;
  Gradient gradient;
};

/// Every derivative of half the sum of squares of the records.
Gradient every_derivative(Propagator& propagator, const Problem& problem);
/// Runs the shots, then takes every derivative of half the sum of squares of their records.
Everything everything(const Problem& problem);
/// The same from a Propagator that exists.
Everything everything(Propagator& propagator, const Problem& problem);

/// Names of what differs in a single bit, with how many values do; empty where all are the same.
std::vector<std::string> differences(const Everything& found, const Everything& expected);
std::vector<std::string> differences(const Records& found, const Records& expected);

/// The problem on another backend; `compiler` for cuda-sim.
Problem on(Problem problem, Backend backend, std::shared_ptr<jit::CudaCompiler> compiler = nullptr);

/// Nothing of the driver's is left: allocations, modules, streams, events, graphs, contexts.
std::string leaks(const SimDriver& driver);

}  // namespace ondula::test

/// Skips where the library was built without Clang, hence without the stand-in.
#define ONDULA_NEEDS_STAND_IN()                 \
  if (ondula::cuda::stand_in_library().empty()) \
  ONDULA_SKIP("there is no libondula-cuda-sim.so: built without Clang")
