// Memory and launches of single kernels.
// SPDX-License-Identifier: MIT
#include "tests/runtime/device/sim/bench.hpp"

#include <doctest/doctest.h>

#include <cstdlib>

#include "compiler/error.hpp"
#include "runtime/device/sim/compile.hpp"

namespace ondula::test {

Bench::Bench(const std::string& text, sim::Mode mode, std::uint64_t seed, sim::Order order)
    : shadow(std::move(order)) {
  const sim::Compiled compiled = sim::compile("bench.cu", text, {"--gpu-architecture=sm_90", "--fmad=false"});
  if (!compiled.succeeded) throw RuntimeError(compiled.log);
  program = sim::Program::load(compiled.binary);
  options.mode = mode;
  options.seed = seed;
  options.shadow = &shadow;
  options.counters = &counters;
}

void Bench::Free::operator()(void* data) const { std::free(data); }

std::uint64_t Bench::allocate(std::size_t bytes) {
  constexpr std::size_t gap = 64;
  void* const data = std::aligned_alloc(gap, (bytes + 2 * gap - 1) / gap * gap);
  memory_.emplace_back(data);
  std::memset(data, 0xff, bytes);
  shadow.add(reinterpret_cast<std::uint64_t>(data), bytes);
  return reinterpret_cast<std::uint64_t>(data);
}

void Bench::launch(const std::string& kernel, std::array<unsigned, 3> grid, std::array<unsigned, 3> block,
                   void* const* arguments, std::size_t count) {
  sim::Launch launch;
  launch.program = program.get();
  launch.kernel = program->find(kernel);
  REQUIRE(launch.kernel != nullptr);
  REQUIRE(launch.kernel->parameters.size() == count);
  launch.grid = grid;
  launch.block = block;
  launch.arguments = launch.kernel->pack(arguments);
  launch.operation = ++operation;
  sim::run(launch, options, findings);
}

}  // namespace ondula::test
