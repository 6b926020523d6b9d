// Running problems on two backends and comparing bits.
// SPDX-License-Identifier: MIT
#include "tests/runtime/device/cuda/on_sim.hpp"

#include <fmt/format.h>
#include <stdlib.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

namespace ondula::test {
namespace {

using Names = std::vector<std::string>;

void compare(Names& names, const std::string& name, const std::vector<double>& found,
             const std::vector<double>& expected) {
  if (found.size() != expected.size()) {
    names.push_back(fmt::format("{}: {} values for {}", name, found.size(), expected.size()));
    return;
  }
  std::size_t count = 0;
  double worst = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (std::bit_cast<std::uint64_t>(found[i]) == std::bit_cast<std::uint64_t>(expected[i])) continue;
    ++count;
    worst = std::max(worst, std::abs(found[i] - expected[i]));
  }
  if (count > 0)
    names.push_back(fmt::format("{}: {} of {} values, by {:.3g}", name, count, found.size(), worst));
}

void compare(Names& names, const std::string& name, const Arrays& found, const Arrays& expected) {
  if (found.size() != expected.size()) names.push_back(name + ": other names");
  for (const auto& [key, values] : expected) {
    const auto own = found.find(key);
    compare(names, name + " " + key, own == found.end() ? std::vector<double>{} : own->second, values);
  }
}

}  // namespace

void use_graphs(bool graphs) { setenv("ONDULA_CUDA_GRAPHS", graphs ? "" : "off", 1); }

std::shared_ptr<jit::CudaCompiler> sim_compiler(const jit::CacheOptions& cache) {
  return std::make_shared<jit::CudaCompiler>(cache, jit::Log{}, cuda::stand_in_library());
}

Everything everything(const Problem& problem) {
  Propagator propagator = problem.propagator();
  return everything(propagator, problem);
}

Everything everything(Propagator& propagator, const Problem& problem) {
  Everything all;
  all.records = propagator.forward(problem.shots);
  all.state = propagator.state().fields();
  all.gradient = every_derivative(propagator, problem);
  return all;
}

Gradient every_derivative(Propagator& propagator, const Problem& problem) {
  const MisfitFunction squares = [](std::int64_t, const std::map<std::string, Traces>& records) {
    return Misfit{0, records};
  };
  GradientOptions options;
  options.wavelets = options.initial = options.illumination = options.records = true;
  return propagator.gradient(problem.shots, squares, options);
}

std::vector<std::string> differences(const Records& found, const Records& expected) {
  Names names;
  if (found.size() != expected.size()) names.push_back("the number of shots");
  for (std::size_t s = 0; s < std::min(found.size(), expected.size()); ++s) {
    for (const auto& [field, traces] : expected[s])
      compare(names, fmt::format("record of {}, shot {}", field, s), found[s].at(field).data, traces.data);
  }
  return names;
}

std::vector<std::string> differences(const Everything& found, const Everything& expected) {
  Names names = differences(found.records, expected.records);
  compare(names, "state", found.state, expected.state);
  const Gradient &a = found.gradient, &b = expected.gradient;
  for (const std::string& name : differences(a.records, b.records)) names.push_back("gradient's " + name);
  compare(names, "gradient", a.models, b.models);
  compare(names, "initial gradient", a.initial, b.initial);
  compare(names, "illumination", a.illumination, b.illumination);
  if (a.wavelets.size() != b.wavelets.size()) names.push_back("the number of wavelets' shots");
  for (std::size_t s = 0; s < std::min(a.wavelets.size(), b.wavelets.size()); ++s) {
    for (std::size_t k = 0; k < b.wavelets[s].size(); ++k)
      compare(names, fmt::format("wavelet {} of shot {}", k, s), a.wavelets[s].at(k), b.wavelets[s][k]);
  }
  return names;
}

Problem on(Problem problem, Backend backend, std::shared_ptr<jit::CudaCompiler> compiler) {
  problem.options.backend = backend;
  problem.options.cuda_compiler = std::move(compiler);
  return problem;
}

std::string leaks(const SimDriver& driver) {
  const ondula_sim_counts live = driver.live();
  std::string text;
  const auto add = [&](const char* what, std::uint64_t count) {
    if (count > 0) text += fmt::format("{} {}; ", count, what);
  };
  add("allocations", live.allocations);
  add("pinned", live.pinned);
  add("modules", live.modules);
  add("streams", live.streams);
  add("events", live.events);
  add("graphs", live.graphs);
  add("instantiated graphs", live.execs);
  add("contexts", live.contexts);
  add("programs", live.programs);
  return text;
}

}  // namespace ondula::test
