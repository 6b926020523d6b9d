// Speed of forward modelling on the host against its two roofs: the pattern copy, and the same kernel in
// cache. SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <sys/resource.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>

#include "equations/equations.hpp"
#include "runtime/device/device.hpp"
#include "runtime/propagator.hpp"

namespace {

using namespace ondula;
using Clock = std::chrono::steady_clock;

struct Setting {
  int dims = 3;
  int order = 8;
  std::int64_t n = 192;
  std::vector<int> width = {20, 20, 20};  ///< layer cells, per axis
  int threads = 2;
  std::int64_t steps = 60;
  int shots = 1;
  int rounds = 3;
  bool json = false;
};

double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

/// Points per second of w[i] = a[i] + b[i] * c - w[i]: three reads, one in-place write, no stencil.
double pattern_copy(std::int64_t points, int threads) {
  std::vector<float> a(static_cast<std::size_t>(points), 1.0F), b(a), w(a);
  tbb::task_arena arena(threads);
  double best = 0;
  for (int round = 0; round < 5; ++round) {
    const auto begin = Clock::now();
    arena.execute([&] {
      tbb::parallel_for(tbb::blocked_range<std::size_t>(0, w.size(), 1 << 16), [&](const auto& range) {
        for (std::size_t i = range.begin(); i < range.end(); ++i) w[i] = a[i] + b[i] * 0.25F - w[i];
      });
    });
    best = std::max(
        best, static_cast<double>(points) / std::chrono::duration<double>(Clock::now() - begin).count());
  }
  return best;
}

struct Result {
  double physical = 0, padded = 0;  ///< Gpoints/s, wall time
  double padded_per_cpu = 0;        ///< Gpoints per second of processor time
};

Result run(const Setting& s, const std::vector<std::int64_t>& shape, const std::vector<int>& width,
           std::int64_t steps) {
  Grid grid;
  grid.axes = default_axes(s.dims);
  std::int64_t nodes = 1;
  for (int a = 0; a < s.dims; ++a) {
    grid.shape.push_back(shape[static_cast<std::size_t>(3 - s.dims + a)]);
    grid.spacing.push_back(20);
    grid.origin.push_back(0);
    const int w = width[static_cast<std::size_t>(a) % width.size()];
    grid.faces.push_back({Face{FaceKind::absorbing, w}, Face{FaceKind::absorbing, w}});
    nodes *= grid.shape.back();
  }
  PropagatorOptions options;
  options.dt = 2e-3;
  options.steps = steps;
  options.order = s.order;
  options.threads = s.threads;
  Propagator propagator(equations::acoustic(), grid, options);
  std::vector<double> vp(static_cast<std::size_t>(nodes));
  for (std::size_t i = 0; i < vp.size(); ++i) {
    const auto depth = static_cast<double>(static_cast<std::int64_t>(i) / (nodes / grid.shape[0]));
    vp[i] = 1500.0 + std::round(1500.0 * depth / static_cast<double>(grid.shape[0]));
  }
  propagator.set_model("vp", vp);
  // Every cell moves, so that no denormal and no zero makes the work easier than it is.
  std::vector<double> u(vp.size());
  for (std::size_t i = 0; i < u.size(); ++i)
    u[i] = 1e-3 * static_cast<double>((i * 2654435761U) % 1000U) - 0.5;
  propagator.set_initial("u", u);
  propagator.set_initial("u.previous", u);
  std::vector<Shot> shots(static_cast<std::size_t>(s.shots));
  const double cpu = cpu_seconds();
  propagator.forward(shots);
  const double spent = cpu_seconds() - cpu;
  const Timings& t = propagator.timings();
  const double share = t.steady / (t.steady + t.first);
  return {t.gpoints_per_s, t.padded_gpoints_per_s,
          t.padded_gpoints_per_s * t.steady / std::max(1e-9, spent * share)};
}

double median(std::vector<double> v) {
  std::sort(v.begin(), v.end());
  return v[v.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
  Setting s;
  CLI::App app("Speed of 3-D acoustic forward modelling on the host");
  app.add_option("--dims", s.dims);
  app.add_option("--order", s.order);
  app.add_option("-n,--nodes", s.n, "nodes per axis");
  app.add_option("--width", s.width, "layer cells, one for all axes or one for each");
  app.add_option("--threads", s.threads);
  app.add_option("--steps", s.steps);
  app.add_option("--shots", s.shots);
  app.add_option("--rounds", s.rounds);
  app.add_flag("--json", s.json);
  CLI11_PARSE(app, argc, argv);
  std::vector<double> rates, physical, per_cpu, copies, caches;
  for (int round = 0; round < s.rounds; ++round) {
    copies.push_back(pattern_copy(12'000'000, s.threads) / 1e9);
    const Result r = run(s, {s.n, s.n, s.n}, s.width, s.steps);
    rates.push_back(r.padded);
    physical.push_back(r.physical);
    per_cpu.push_back(r.padded_per_cpu);
    // In cache: the same rows, few enough that the three fields fit a second-level cache; one thread, no
    // layers.
    Setting small = s;
    small.threads = 1;
    caches.push_back(run(small, {12, 12, s.n}, {0}, 3000).padded);
    copies.push_back(pattern_copy(12'000'000, s.threads) / 1e9);
  }
  const double rate = median(rates);
  if (s.json) {
    const nlohmann::ordered_json out = {{"padded_gpoints_per_s", rate},
                                        {"physical_gpoints_per_s", median(physical)},
                                        {"padded_gpoints_per_cpu_s", median(per_cpu)},
                                        {"pattern_copy_gpoints_per_s", median(copies)},
                                        {"in_cache_gpoints_per_s_and_core", median(caches)}};
    fmt::print("{}\n", out.dump(1));
    return 0;
  }
  fmt::print(
      "padded {:.3f} Gpoints/s ({:.3f} to {:.3f}), physical {:.3f}, padded per processor second {:.3f}\n",
      rate, *std::min_element(rates.begin(), rates.end()), *std::max_element(rates.begin(), rates.end()),
      median(physical), median(per_cpu));
  fmt::print(
      "pattern copy {:.3f} Gpoints/s: {:.0f} % of it; in cache {:.3f} Gpoints/s and core: {:.0f} % of {} "
      "cores'\n",
      median(copies), 100 * rate / median(copies), median(caches), 100 * rate / (s.threads * median(caches)),
      s.threads);
  return 0;
}
