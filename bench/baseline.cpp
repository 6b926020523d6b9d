// The baseline's nine cases scaled down: eager against compiled gradients, beside the published figures.
// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <malloc.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <memory>

#include "bench/baseline_cases.hpp"
#include "compiler/error.hpp"
#include "runtime/backend.hpp"

namespace {

using namespace ondula;
using Clock = std::chrono::steady_clock;

/// A line of /proc/self/status, in bytes; 0 where there is none.
std::size_t status(const std::string& key) {
  std::ifstream file("/proc/self/status");
  std::string word;
  std::size_t kib = 0;
  while (file >> word) {
    if (word == key && file >> kib) return kib * 1024;
  }
  return 0;
}

/// The most memory the process gained since it was made, for code that no allocator of ours sees.
class ResidentGrowth {
 public:
  ResidentGrowth() {
    malloc_trim(0);
    std::ofstream("/proc/self/clear_refs") << 5;  // the peak starts anew
    before_ = status("VmRSS:");
  }
  std::size_t bytes() const {
    const std::size_t peak = status("VmHWM:");
    return peak > before_ ? peak - before_ : 0;
  }

 private:
  std::size_t before_ = 0;
};

struct Run {
  double seconds = 0;  ///< median
  std::size_t bytes = 0;
  Gradient gradient;
};

Run run(bench::Setup setup, Backend backend, DType dtype, int threads, int repeats,
        const std::shared_ptr<jit::HostCompiler>& compiler) {
  setup.options.backend = backend;
  setup.options.dtype = dtype;
  setup.options.threads = threads;
  setup.options.compiler = compiler;
  const ResidentGrowth resident;
  Propagator propagator = setup.propagator();
  const MisfitFunction misfit = [](std::int64_t, const auto& records) {
    return bench::sum_of_squares(records);
  };
  Run result;
  std::vector<double> seconds;
  // The first call apart: kernels, memory.
  for (int k = 0; k <= repeats; ++k) {
    const auto begin = Clock::now();
    result.gradient = propagator.gradient(setup.shots, misfit);
    if (k > 0) seconds.push_back(std::chrono::duration<double>(Clock::now() - begin).count());
  }
  std::sort(seconds.begin(), seconds.end());
  if (!seconds.empty()) result.seconds = seconds[seconds.size() / 2];
  // The reference keeps its arrays outside a device's allocator.
  result.bytes = backend == Backend::reference ? resident.bytes() : propagator.device_bytes_peak();
  return result;
}

struct Options {
  bench::Scale scale;
  int threads = 0, repeats = 3;
  std::string backend = "host";  ///< of what is compiled
  double bar = 1e-5;
};

constexpr const char* heading =
    "{:<13}{:>6}{:>6}{:>6} {:<8}{:>8}{:>11}{:>6}{:>10}{:>14}{:>9}{:>10}{:>10}   {:<9} {:<12} {}\n";
constexpr const char* line =
    "{:<13}{:>6}{:>6}{:>6} {:<8}{:>8.3f}{:>11.4f}{:>6.0f}{:>10.1f}{:>14.1f}{:>9.1e}{:>10.1e}{:>10.1e}   "
    "{:<9} {:<12} "
    "{}{}\n";

/// Prints one row; true where it meets the bar.
bool row(const bench::Case& full, const Options& options,
         const std::shared_ptr<jit::HostCompiler>& compiler) {
  const bench::Case c = bench::scaled(full, options.scale);
  const bench::Setup setup = bench::set_up(c);
  const auto run_on = [&](Backend backend, DType dtype, int repeats) {
    return run(setup, backend, dtype, options.threads, repeats, compiler);
  };
  const Run eager = run_on(Backend::reference, DType::float32, options.repeats);
  const Run compiled = run_on(backend_of(options.backend), DType::float32, options.repeats);
  const Run exact = run_on(backend_of(options.backend), DType::float64, 0);
  const auto vp = [](const Run& r) -> const std::vector<double>& { return r.gradient.models.at("vp"); };
  const double difference = bench::relative_l2(vp(compiled), vp(eager));
  constexpr double mib = 1 << 20;
  fmt::print(line, full.label, c.n, c.steps, c.width, "full", eager.seconds, compiled.seconds,
             eager.seconds / compiled.seconds, static_cast<double>(eager.bytes) / mib,
             static_cast<double>(compiled.bytes) / mib, difference, bench::relative_l2(vp(eager), vp(exact)),
             bench::relative_l2(vp(compiled), vp(exact)), full.published.seconds, full.published.gib,
             full.published.difference, difference <= options.bar ? "" : "   over the bar");
  std::fflush(stdout);
  return difference <= options.bar;
}

/// Prints the table; true where every row meets the bar.
bool table(const Options& options) {
  const auto compiler = make_compiler();
  fmt::print(heading, "case", "nodes", "steps", "layer", "workload", "eager s", "compiled s", "ratio",
             "eager MiB", "compiled MiB", "grad rel", "eager 64", "comp. 64", "peers: s", "GiB", "grad rel");
  bool met = true;
  for (const bench::Case& full : bench::baseline_cases()) met = row(full, options, compiler) && met;
  fmt::print(
      "full: a gradient, what it needs of every step kept. grad rel: vp's, compiled against eager, relative "
      "L2; 64: each "
      "against float64.\n"
      "eager MiB: what the process gained; compiled MiB: the device's allocator. Peers: the full-size case "
      "on a V100, "
      "eager / hand-written.\n");
  return met;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  bench::Scale& scale = options.scale;
  CLI::App app("The baseline's nine cases scaled down: eager against compiled gradients");
  app.add_option("--grid2", scale.grid2, "what 2-D grids are divided by");
  app.add_option("--grid3", scale.grid3, "what 3-D grids are divided by");
  app.add_option("--layer", scale.layer, "what layers are divided by");
  app.add_option("--divide-steps", scale.steps, "what steps are divided by");
  app.add_option("--threads", options.threads, "0: one per core");
  app.add_option("--backend", options.backend, "of the compiled gradients")
      ->check(CLI::IsMember({"host", "cuda", "cuda-sim"}));
  app.add_option("--repeats", options.repeats)->check(CLI::PositiveNumber);
  app.add_option("--bar", options.bar, "largest relative L2 difference of the gradients of vp");
  CLI11_PARSE(app, argc, argv);
  try {
    return table(options) ? 0 : 1;
  } catch (const Error& error) {
    fmt::print(stderr, "ondula-baseline: {}\n", error.what());
    return 2;
  }
}
