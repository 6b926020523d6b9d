// Speed of forward modelling on the host against its two roofs: the pattern copy, and the same kernel in
// cache. SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>

#include "compiler/emit/host_text.hpp"
#include "compiler/passes/pipeline.hpp"
#include "equations/equations.hpp"
#include "runtime/device/device.hpp"
#include "runtime/jit/host_compiler.hpp"
#include "runtime/loop/engine.hpp"
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
};

Result run(const Setting& s) {
  Grid grid;
  grid.axes = default_axes(s.dims);
  std::int64_t nodes = 1;
  for (int a = 0; a < s.dims; ++a) {
    grid.shape.push_back(s.n);
    grid.spacing.push_back(20);
    grid.origin.push_back(0);
    const int w = s.width[static_cast<std::size_t>(a) % s.width.size()];
    grid.faces.push_back({Face{FaceKind::absorbing, w}, Face{FaceKind::absorbing, w}});
    nodes *= grid.shape.back();
  }
  PropagatorOptions options;
  options.dt = 2e-3;
  options.steps = s.steps;
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
  propagator.forward(shots);
  const Timings& t = propagator.timings();
  return {t.gpoints_per_s, t.padded_gpoints_per_s};
}

/// Gpoints/s of one thread over rows of the same length, few enough that the three arrays fit a second-level
/// cache: no layers, no halo to fill.
double in_cache(const Setting& s) {
  const auto compilation =
      passes::compile(equations::acoustic(), {default_axes(s.dims), s.order, false, false});
  jit::HostCompiler compiler;
  const auto module =
      compiler.compile({emit::host_text(compilation.kernels, emit::Real::float32), "acoustic", {}, ""});
  loop::EngineSetup setup;
  setup.domain.dims = s.dims;
  const std::int64_t rows = s.dims == 3 ? 12 : 64;
  for (int a = 0; a < s.dims; ++a) {
    setup.domain.shape[static_cast<std::size_t>(a)] = a == s.dims - 1 ? s.n : rows;
    setup.domain.spacing[static_cast<std::size_t>(a)] = 20;
    setup.symbols["h_" + default_axes(s.dims)[static_cast<std::size_t>(a)]] = 20;
  }
  setup.symbols["dt"] = setup.layer.dt = 2e-3;
  const auto device = device::make_host_device(1);
  const auto engine = loop::make_compiled_engine(compilation, setup, *device, module);
  const loop::Models models = {{"vp", loop::ModelArray(2000.0)}};
  engine->set_models(models);
  std::vector<double> u(static_cast<std::size_t>(setup.domain.points()));
  for (std::size_t i = 0; i < u.size(); ++i)
    u[i] = 1e-3 * static_cast<double>((i * 2654435761U) % 1000U) - 0.5;
  engine->set_field("u", 0, u);
  engine->set_field("u", -1, u);
  const auto begin = Clock::now();
  const int steps = 2000;
  for (int n = 0; n < steps; ++n) engine->step(n, {});
  const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  return static_cast<double>(setup.domain.points()) * steps / seconds / 1e9;
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
  std::vector<double> rates, physical, copies, caches;
  for (int round = 0; round < s.rounds; ++round) {
    copies.push_back(pattern_copy(12'000'000, s.threads) / 1e9);
    const Result r = run(s);
    rates.push_back(r.padded);
    physical.push_back(r.physical);
    caches.push_back(in_cache(s));
    copies.push_back(pattern_copy(12'000'000, s.threads) / 1e9);
  }
  const double rate = median(rates);
  if (s.json) {
    const nlohmann::ordered_json out = {{"padded_gpoints_per_s", rate},
                                        {"physical_gpoints_per_s", median(physical)},
                                        {"pattern_copy_gpoints_per_s", median(copies)},
                                        {"in_cache_gpoints_per_s_and_core", median(caches)}};
    fmt::print("{}\n", out.dump(1));
    return 0;
  }
  fmt::print("padded {:.3f} Gpoints/s ({:.3f} to {:.3f}), physical {:.3f}\n", rate,
             *std::min_element(rates.begin(), rates.end()), *std::max_element(rates.begin(), rates.end()),
             median(physical));
  fmt::print(
      "pattern copy {:.3f} Gpoints/s: {:.0f} % of it; in cache {:.3f} Gpoints/s and core: {:.0f} % of {} "
      "cores'\n",
      median(copies), 100 * rate / median(copies), median(caches), 100 * rate / (s.threads * median(caches)),
      s.threads);
  return 0;
}
