// Runs that must agree to the last bit: repeats, thread counts, poisoned memory, compilers.
// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>

#include "compiler/emit/host_text.hpp"
#include "compiler/passes/pipeline.hpp"
#include "runtime/domain.hpp"
#include "runtime/loop/engine.hpp"
#include "tests/support/compare.hpp"
#include "tests/support/environment.hpp"
#include "tests/support/skip.hpp"
#include "tests/support/temporary_directory.hpp"
#include "tests/verification/setup.hpp"

using namespace ondula;
using namespace ondula::test;

namespace {

bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0;
}

/// A model of layers and noise, a source off the nodes, receivers beside layers and inside.
struct Run {
  Grid grid;
  int order = 8;
  DType dtype = DType::float32;
  std::int64_t steps = 120;
  double kappa = 1;
};

struct Result {
  std::vector<double> traces, field;
  bool operator==(const Result& other) const {
    return same_bits(traces, other.traces) && same_bits(field, other.field);
  }
};

std::vector<double> noisy_model(const Grid& g) {
  Random random(3);
  return on_nodes(g, [&](const std::vector<std::int64_t>& node) {
    return 1500 + 40 * static_cast<double>(node[0]) + 300 * random.uniform();
  });
}

PropagatorOptions options_of(const Run& run) {
  const auto deepest = static_cast<double>(run.grid.shape[0]);
  const int dims = static_cast<int>(run.grid.shape.size());
  PropagatorOptions o =
      options(0.9 * acoustic_limit(run.order, dims, 10, 1800 + 40 * deepest), run.steps, run.order);
  o.dtype = run.dtype;
  o.absorb.kappa = run.kappa;
  return o;
}

Shot shot_of(const Run& run, double dt) {
  std::vector<double> centre, edge, inside;
  for (const std::int64_t n : run.grid.shape) {
    centre.push_back(10 * static_cast<double>(n / 2) + 3.3);
    edge.push_back(10.0);
    inside.push_back(10 * static_cast<double>(n) * 0.37);
  }
  Shot shot;
  shot.sources.push_back(source(centre, ricker_wavelet(0.03 / dt, 40 * dt, dt, run.steps)));
  shot.receivers = {receiver(edge), receiver(inside), receiver(centre)};
  return shot;
}

Result result_of(const Run& run, const PropagatorOptions& o) {
  Propagator propagator(equations::acoustic(), run.grid, o);
  propagator.set_model("vp", noisy_model(run.grid));
  const Shot shot = shot_of(run, o.dt);
  const Records records = propagator.forward({&shot, 1});
  return {records[0].at("u").data, propagator.state().at("u")};
}

Face layer(int width) { return {FaceKind::absorbing, width}; }

/// Layers of different widths, a free surface, a periodic axis where there is room.
std::vector<Run> runs() {
  std::vector<Run> result;
  for (const auto& shape : std::vector<std::vector<std::int64_t>>{{301}, {90, 110}, {30, 26, 40}}) {
    Grid g = grid(shape, 10, layer(8));
    g.faces[0][1] = layer(5);
    for (const auto& [order, dtype] :
         {std::pair{2, DType::float64}, {8, DType::float32}, {16, DType::float64}}) {
      result.push_back({g, order, dtype});
    }
    g.faces[0][0] = free_surface;
    if (shape.size() > 1) g.faces[1] = {Face{FaceKind::periodic, 0}, Face{FaceKind::periodic, 0}};
    result.push_back({g, 8, DType::float64, 120, 2});
    result.push_back({g, 16, DType::float32});
  }
  return result;
}

}  // namespace

TEST_CASE("A9: 48^3 in layers, five runs on two threads: the same bits") {
  const Run run{grid({48, 48, 48}, 10, layer(10)), 8, DType::float32, 100};
  PropagatorOptions o = options_of(run);
  o.threads = 2;
  const Result first = result_of(run, o);
  CHECK(max_abs(first.traces) > 0);
  for (int repeat = 1; repeat < 5; ++repeat) CHECK(result_of(run, o) == first);
}

TEST_CASE("host: one thread, two and sixteen give the same bits, 1-D to 3-D, orders 2, 8 and 16") {
  for (const Run& run : runs()) {
    CAPTURE(run.grid.shape.size());
    CAPTURE(run.order);
    PropagatorOptions o = options_of(run);
    const Result one = result_of(run, o);
    CHECK(max_abs(one.traces) > 0);
    for (const int threads : {2, 16}) {
      o.threads = threads;
      CHECK(result_of(run, o) == one);
    }
  }
}

TEST_CASE("B16: memory that was NaN before gives the same bits, 1-D to 3-D, orders 2, 8 and 16") {
  for (const Run& run : runs()) {
    CAPTURE(run.grid.shape.size());
    CAPTURE(run.order);
    PropagatorOptions o = options_of(run);
    const Result plain = result_of(run, o);
    o.poison = true;
    CHECK(result_of(run, o) == plain);
  }
}

namespace {

/// The kernels of a run on the time loop's own engine, as `module` has them.
Result engine_result(const Run& run, const passes::Compilation& compilation,
                     std::shared_ptr<const jit::HostModule> module) {
  const PropagatorOptions o = options_of(run);
  loop::EngineSetup setup;
  setup.domain = make_domain(run.grid, run.order);
  setup.symbols["dt"] = o.dt;
  for (const std::string& axis : run.grid.axes) setup.symbols["h_" + axis] = 10;
  setup.layer = {o.dt, 2000, 10, 0, run.kappa};
  setup.dtype = run.dtype;
  loop::Models models;
  models["vp"] = loop::ModelArray(noisy_model(run.grid));
  const auto device = device::make_host_device(1);
  const auto engine = loop::make_compiled_engine(compilation, setup, *device, std::move(module));
  engine->set_models(models);
  // A field of noise everywhere, layers included: every kernel works on every point at once.
  Random random(5);
  std::vector<double> noise(static_cast<std::size_t>(setup.domain.points()));
  for (const int level : {0, -1}) {
    for (double& v : noise) v = random.normal();
    engine->set_field("u", level, noise);
  }
  engine->set_points({}, {});
  for (std::int64_t n = 0; n < 50; ++n) engine->step(n, {});
  return {engine->field("u", 0), engine->field("u", -1)};
}

/// `text` through g++ into a relocatable object, as the module's loader takes it; nothing where g++ failed.
std::vector<std::byte> gcc_object(const std::string& text, const std::string& level) {
  const TemporaryDirectory directory;
  const std::string from = (directory.path() / "kernels.cpp").string(),
                    to = (directory.path() / "kernels.o").string();
  std::ofstream(from) << text;
  const std::string command = fmt::format(
      "g++ -std=c++20 {} -march=native -ffp-contract=off -fno-exceptions -fno-asynchronous-unwind-tables "
      "-fPIC "
      "-fvisibility=hidden -c -o {} {}",
      level, to, from);
  if (std::system(command.c_str()) != 0) return {};
  std::ifstream stream(to, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(stream), {}};
  const auto* data = reinterpret_cast<const std::byte*>(bytes.data());
  return {data, data + bytes.size()};
}

}  // namespace

TEST_CASE(
    "host: g++ and the in-process Clang give the same bits on the emitted text, 1-D to 3-D, orders 2, 8, "
    "16") {
  if (jit::built_clang_version() == "none") ONDULA_SKIP("built without LLVM and Clang 19");
  if (std::system("g++ --version > /dev/null 2>&1") != 0) ONDULA_SKIP("no g++ here");
  jit::HostCompiler compiler;
  for (const Run& run : runs()) {
    CAPTURE(run.grid.shape.size());
    CAPTURE(run.order);
    CAPTURE((run.dtype == DType::float32));
    const passes::Compilation compilation =
        passes::compile(equations::acoustic(), {run.grid.axes, run.order, run.kappa > 1, false});
    const emit::Real real = run.dtype == DType::float32 ? emit::Real::float32 : emit::Real::float64;
    const std::string text = emit::host_text(compilation.kernels, real);
    const Result ours = engine_result(run, compilation, compiler.compile({text, "acoustic", {}, ""}));
    CHECK(max_abs(ours.field) > 0);
    CHECK(std::isfinite(max_abs(ours.field)));
    const std::vector<std::string> levels =
        full_matrices() ? std::vector<std::string>{"-O1", "-O2", "-O3"} : std::vector<std::string>{"-O2"};
    for (const std::string& level : levels) {
      const std::vector<std::byte> object = gcc_object(text, level);
      REQUIRE(!object.empty());
      const Result theirs = engine_result(
          run, compilation, std::make_shared<const jit::HostModule>(object, jit::CompileRecord{}));
      CHECK(theirs == ours);
    }
  }
}

namespace {

/// Every run in 2-D and 3-D as the passes make it and with `change` to their options: the same bits, from
/// kernels that `check` finds different.
template <class Change, class Check>
void same_with(const Change& change, const Check& check) {
  jit::HostCompiler compiler;
  for (const Run& run : runs()) {
    if (run.grid.axes.size() == 1) continue;
    CAPTURE(run.grid.shape.size());
    CAPTURE(run.order);
    const emit::Real real = run.dtype == DType::float32 ? emit::Real::float32 : emit::Real::float64;
    std::vector<Result> results;
    for (const bool changed : {false, true}) {
      passes::PipelineOptions options{run.grid.axes, run.order, run.kappa > 1, false};
      if (changed) change(options);
      const passes::Compilation compilation = passes::compile(equations::acoustic(), options);
      check(compilation.kernels, changed);
      const std::string text = emit::host_text(compilation.kernels, real);
      results.push_back(engine_result(run, compilation, compiler.compile({text, "acoustic", {}, ""})));
    }
    CHECK(results[0] == results[1]);
  }
}

}  // namespace

TEST_CASE("host: memory variables that run ahead give the bits of sweeps apart, 2-D and 3-D") {
  if (jit::built_clang_version() == "none") ONDULA_SKIP("built without LLVM and Clang 19");
  same_with([](passes::PipelineOptions& options) { options.target = passes::Target::cuda; },
            [](const ir::KernelSet& set, bool changed) { REQUIRE(set.kernels.size() == (changed ? 2 : 1)); });
}

TEST_CASE("host: memory variables computed within their readers' rows give the bits of rows of their own") {
  if (jit::built_clang_version() == "none") ONDULA_SKIP("built without LLVM and Clang 19");
  same_with([](passes::PipelineOptions& options) { options.windows = false; },
            [](const ir::KernelSet& set, bool changed) {
              std::size_t within = 0;
              for (const ir::Piece& piece : set.kernels.at(0).pieces) within += piece.within.size();
              REQUIRE(within == (changed ? 0 : 2));
            });
}

TEST_CASE("host: processors without AVX-512, or with nothing but the baseline, give the same bits") {
  if (jit::built_clang_version() == "none") ONDULA_SKIP("built without LLVM and Clang 19");
  for (const Run& run : runs()) {
    CAPTURE(run.grid.shape.size());
    CAPTURE(run.order);
    const passes::Compilation compilation =
        passes::compile(equations::acoustic(), {run.grid.axes, run.order, run.kappa > 1, false});
    const emit::Real real = run.dtype == DType::float32 ? emit::Real::float32 : emit::Real::float64;
    const std::string text = emit::host_text(compilation.kernels, real);
    std::vector<Result> results;
    for (const char* features : {"", "-avx512f", "baseline"}) {
      jit::HostCompiler compiler({.directory = "off"}, {}, features);
      results.push_back(engine_result(run, compilation, compiler.compile({text, "acoustic", {}, ""})));
    }
    CHECK(results[1] == results[0]);
    CHECK(results[2] == results[0]);
  }
}
