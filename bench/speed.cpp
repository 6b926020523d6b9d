// Speed of forward modelling on the host against its two roofs: the pattern copy, and the same kernel in
// cache. SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>
#include <time.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
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
  std::string equation = "acoustic";
  int dims = 3;
  int order = 8;
  std::int64_t n = 192;
  std::vector<int> width = {20, 20, 20};  ///< layer cells, per axis
  int threads = 2;
  std::int64_t steps = 60;
  int shots = 1;
  int rounds = 3;
  bool json = false;
  passes::Fusion fusion = passes::Fusion::loads;  ///< bare steps only
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

/// Steps of one shot with neither sources nor receivers: what every equation has, whether or not its
/// stability limit is known.
class Stepper {
 public:
  Stepper(const Setting& s, ir::Domain domain, int threads) : device_(device::make_host_device(threads)) {
    const EquationDefinition equation = equations::find(s.equation);
    compilation_ = passes::compile(
        equation, {default_axes(s.dims), s.order, false, false, passes::Target::host, s.fusion});
    jit::HostCompiler compiler;
    const auto module =
        compiler.compile({emit::host_text(compilation_.kernels, emit::Real::float32), s.equation, {}, ""});
    domain.dims = s.dims;
    loop::EngineSetup setup;
    for (int a = 0; a < s.dims; ++a) {
      domain.spacing[static_cast<std::size_t>(a)] = 20;
      setup.symbols["h_" + default_axes(s.dims)[static_cast<std::size_t>(a)]] = 20;
    }
    setup.domain = domain;
    setup.symbols["dt"] = setup.layer.dt = 2e-3;
    setup.layer.velocity = 3000;
    setup.layer.frequency = 10;
    engine_ = loop::make_compiled_engine(compilation_, setup, *device_, module);
    prepare(domain);
  }

  /// Seconds of `steps` steps.
  double run(std::int64_t steps) {
    const auto begin = Clock::now();
    for (std::int64_t n = 0; n < steps; ++n) engine_->step(n, {});
    return std::chrono::duration<double>(Clock::now() - begin).count();
  }

  /// The same as time of this thread alone: for one thread, on a machine that others share.
  double run_alone(std::int64_t steps) {
    const double begin = thread_seconds();
    for (std::int64_t n = 0; n < steps; ++n) engine_->step(n, {});
    return thread_seconds() - begin;
  }

 private:
  static double thread_seconds() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
  }

  void prepare(const ir::Domain& domain) {
    const std::int64_t nodes = domain.shape[0] * domain.shape[1] * domain.shape[2];
    std::vector<double> vp(static_cast<std::size_t>(nodes));
    for (std::size_t i = 0; i < vp.size(); ++i) {
      const auto depth = static_cast<double>(static_cast<std::int64_t>(i) / (nodes / domain.shape[0]));
      vp[i] = 1500.0 + std::round(1500.0 * depth / static_cast<double>(domain.shape[0]));
    }
    std::vector<double> vs(vp), rho(vp.size(), 2000.0);
    for (double& value : vs) value = std::round(0.56 * value);
    for (const ir::Parameter& p : compilation_.physical.parameters) {
      models_[p.name] = loop::ModelArray(p.name == "vs" ? vs : p.name == "rho" ? rho : vp);
    }
    engine_->set_models(models_);
    // Every cell moves, so that no denormal and no zero makes the work easier than it is. Stresses in Pa are
    // some rho vp times velocities in m/s.
    std::vector<double> u(static_cast<std::size_t>(domain.points()));
    for (const ir::Field& field : compilation_.physical.fields) {
      if (field.strip_axis >= 0) continue;
      const double size = field.kind == ir::FieldKind::tensor ? 4e6 : 1;
      for (std::size_t i = 0; i < u.size(); ++i)
        u[i] = size * (1e-3 * static_cast<double>((i * 2654435761U) % 1000U) - 0.5);
      engine_->set_field(field.name, 0, u);
      if (field.time_order == 2) engine_->set_field(field.name, -1, u);
    }
  }

  std::unique_ptr<device::Device> device_;
  passes::Compilation compilation_;
  loop::Models models_;
  std::unique_ptr<loop::Engine> engine_;
};

/// The engine's steps alone, for equations other than the acoustic one.
Result run_steps(const Setting& s) {
  ir::Domain domain;
  double nodes = 1;
  for (int a = 0; a < s.dims; ++a) {
    const auto axis = static_cast<std::size_t>(a);
    const int w = s.width[axis % s.width.size()];
    domain.shape[axis] = s.n;
    domain.pad[axis] = {w, w};
    domain.faces[axis] = {FaceKind::absorbing, FaceKind::absorbing};
    nodes *= static_cast<double>(s.n);
  }
  domain.dims = s.dims;
  Stepper stepper(s, domain, s.threads);
  stepper.run(2);
  const double seconds = (s.threads == 1 ? stepper.run_alone(s.steps) : stepper.run(s.steps)) /
                         static_cast<double>(s.steps) * 1e9;
  return {nodes / seconds, static_cast<double>(domain.points()) / seconds};
}

Result run(const Setting& s) {
  if (s.equation != "acoustic") return run_steps(s);
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

/// Gpoints/s of one thread over rows of the same length, few enough that the arrays fit a second-level
/// cache: no layers, no halo to fill.
double in_cache(const Setting& s) {
  ir::Domain domain;
  domain.dims = s.dims;
  // The first-order systems have some ten arrays, and halos of order/2 rows on every side.
  const bool few = s.equation == "acoustic";
  const std::int64_t rows = s.dims == 3 ? (few ? 12 : 4) : (few ? 64 : 24);
  const std::int64_t length = few || s.dims == 2 ? s.n : std::min<std::int64_t>(s.n, 96);
  for (int a = 0; a < s.dims; ++a)
    domain.shape[static_cast<std::size_t>(a)] = a == s.dims - 1 ? length : rows;
  Stepper stepper(s, domain, 1);
  constexpr std::int64_t steps = 2000;
  return static_cast<double>(domain.points()) * steps / stepper.run_alone(steps) / 1e9;
}

double median(std::vector<double> v) {
  std::sort(v.begin(), v.end());
  return v[v.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
  Setting s;
  CLI::App app("Speed of forward modelling on the host");
  app.add_option("equation", s.equation, "an equation's name; all but acoustic run bare steps");
  app.add_option("--dims", s.dims);
  app.add_option("--order", s.order);
  app.add_option("-n,--nodes", s.n, "nodes per axis");
  app.add_option("--width", s.width, "layer cells, one for all axes or one for each");
  app.add_option("--threads", s.threads);
  app.add_option("--steps", s.steps);
  app.add_option("--shots", s.shots);
  app.add_option("--rounds", s.rounds);
  const std::map<std::string, passes::Fusion> fusions = {{"points", passes::Fusion::points},
                                                         {"loads", passes::Fusion::loads},
                                                         {"statement", passes::Fusion::statement}};
  app.add_option("--fusion", s.fusion, "what one pass does: points, loads or statement; of bare steps")
      ->transform(CLI::CheckedTransformer(fusions));
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
