// Tests of the tuner of launch shapes: what it chooses, records and refuses, with a meter that makes times
// up. SPDX-License-Identifier: MIT
#include "runtime/loop/cuda_tuner.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <functional>

#include "compiler/error.hpp"
#include "compiler/passes/cuda_candidates.hpp"
#include "runtime/loop/cuda_meter.hpp"
#include "tests/equations/engines.hpp"
#include "tests/runtime/device/cuda/on_sim.hpp"
#include "tests/runtime/jit/support.hpp"
#include "tests/support/nvrtc.hpp"

namespace ondula::test {
namespace {

/// Seconds of a launch of this shape, in this round.
using Times = std::function<double(const passes::CudaShape& shape, int round)>;

/// Makes times up, and counts what it was asked.
class InventedMeter final : public loop::CudaMeter {
 public:
  InventedMeter(Times times, int& asked) : times_(std::move(times)), asked_(asked) {}
  double seconds(const std::shared_ptr<const loop::CudaKernels>& kernels, std::size_t number) override {
    ++asked_;
    const passes::CudaShape shape = passes::shape_of(kernels->program.kernels.at(number));
    return times_(shape, rounds_[passes::shape_text(shape)]++);
  }

 private:
  Times times_;
  int& asked_;
  std::map<std::string, int> rounds_;
};

/// Two-dimensional kernels on the stand-in, with a tuner that has a cache of its own.
struct Bench {
  TemporaryDirectory directory;
  Warnings warnings;
  std::shared_ptr<jit::CudaCompiler> compiler;
  passes::Compilation compilation = passes::compile(
      equations::acoustic(), {.axes = default_axes(2), .order = 2, .target = passes::Target::cuda});
  ir::Domain domain = layered({40, 40}, 5);
  jit::TuningSubject subject{"", "pretended GPU", 132, "13.0", "z 32, x 32"};
  int asked = 0;

  Bench() { restart(); }
  /// As in another process.
  void restart() {
    compiler =
        std::make_shared<jit::CudaCompiler>(cache_in(directory), warnings.sink(), cuda::stand_in_library());
  }
  loop::CudaSource table() const {
    return loop::cuda_source(compilation, domain, DType::float32, 0, {9, 0, "", false}, true);
  }
  loop::MakeCudaMeter meter(Times times) {
    return [this, times] { return std::make_unique<InventedMeter>(times, asked); };
  }
  loop::CudaSource shaped(const loop::MakeCudaMeter& make = {}) {
    return loop::CudaTuner(compiler, warnings.sink()).shaped(table(), subject, make);
  }
  jit::TuningSubject full_subject() const {
    jit::TuningSubject own = subject;
    own.program = compiler->key_of(table().text, table().architecture);
    return own;
  }
};

passes::CudaShape shape_in(const loop::CudaSource& source) {
  passes::CudaShape shape;
  for (const ir::CudaKernel& kernel : source.program.kernels)
    if (kernel.strip_axis < 0) shape = passes::shape_of(kernel);
  return shape;
}

bool given(const loop::CudaSource& source) {
  return std::all_of(source.program.kernels.begin(), source.program.kernels.end(),
                     [](const ir::CudaKernel& kernel) { return kernel.shape_given; });
}

constexpr passes::CudaShape wide{false, {64, 4}, 4, 1};

Times prefers(const passes::CudaShape& shape, double seconds) {
  return [=](const passes::CudaShape& own, int) { return own == shape ? seconds : 1e-3; };
}

}  // namespace

TEST_CASE(
    "tuner: a candidate is taken where it beats the table by more than margin and noise, the best of them") {
  using loop::best_candidate;
  const std::vector<double> table = {1, 1, 1, 1, 1};
  const auto all = [](double t) { return std::vector<double>(5, t); };
  CHECK(best_candidate({table}, 0.02) == 0);
  CHECK(best_candidate({table, all(0.97), all(0.9), all(0.95)}, 0.02) == 2);
  CHECK(best_candidate({table, all(0.985)}, 0.02) == 0);
  CHECK(best_candidate({table, all(0.985)}, 0.01) == 1);
  CHECK(best_candidate({table, all(1.2)}, 0.02) == 0);
  // Not timed to the end: dropped or refused.
  CHECK(best_candidate({table, {0.5}, {}}, 0.02) == 0);
  // The table's own times are spread by 20 %: 5 % prove nothing, 15 % do.
  const std::vector<double> noisy = {0.9, 1.1, 0.9, 1, 1.1};
  CHECK(best_candidate({noisy, all(0.95)}, 0.02) == 0);
  CHECK(best_candidate({noisy, all(0.85)}, 0.02) == 1);
  // A drift that all share is none of a candidate's.
  CHECK(best_candidate({{1, 1.01, 1.5, 1.5, 1.02}, {0.9, 0.9, 1.35, 1.35, 0.9}}, 0.02) == 0);
  CHECK(best_candidate({{1, 1.01, 1.02, 1.5, 1.02}, {0.9, 0.9, 0.92, 1.35, 0.9}}, 0.02) == 1);
  // One lucky time is no median.
  CHECK(best_candidate({table, {0.1, 1, 1, 1, 0.1}}, 0.02) == 0);
  // Nothing to launch on this grid.
  CHECK(best_candidate({all(0), all(0)}, 0.02) == 0);
  CHECK(best_candidate({{}, {}}, 0.02) == 0);
}

TEST_CASE("tuner: what is the fastest is recorded, and found by the next process, which measures nothing") {
  ONDULA_NEEDS_STAND_IN();
  Bench bench;
  const loop::CudaSource table = bench.table();
  REQUIRE(shape_in(table) != wide);
  loop::CudaTuner tuner(bench.compiler, bench.warnings.sink());
  const loop::CudaSource chosen =
      tuner.shaped(bench.table(), bench.subject, bench.meter(prefers(wide, 0.9e-3)));
  CHECK(shape_in(chosen) == wide);
  CHECK(given(chosen));
  CHECK(chosen.text.text != table.text.text);
  CHECK(tuner.seconds() > 0);
  const int once = bench.asked;
  // Seven rounds of each candidate of the sweep.
  CHECK(once >= 7 * 4);
  const auto record = bench.compiler->cache().load_record(bench.full_subject());
  REQUIRE(record);
  CHECK(record->equation == "acoustic");
  CHECK(record->kernels.size() == table.program.kernels.size());
  CHECK(std::filesystem::exists(bench.compiler->cache().record_path(bench.full_subject())));
  bench.restart();
  CHECK(shape_in(bench.shaped(bench.meter(prefers(wide, 2e-3)))) == wide);
  CHECK(shape_in(bench.shaped()) == wide);
  CHECK(bench.asked == once);
  CHECK(bench.warnings.all().empty());
}

TEST_CASE("tuner: where nothing is faster the table's shapes are recorded, and their text stays the same") {
  ONDULA_NEEDS_STAND_IN();
  Bench bench;
  const loop::CudaSource chosen = bench.shaped(bench.meter(prefers(wide, 0.99e-3)));
  CHECK(chosen.text.text == bench.table().text.text);
  CHECK(given(chosen));
  const int once = bench.asked;
  CHECK(given(bench.shaped(bench.meter(prefers(wide, 0.1e-3)))));
  CHECK(bench.asked == once);
}

TEST_CASE(
    "tuner: unasked and without a record the table's shapes stand, and nothing is measured or written") {
  ONDULA_NEEDS_STAND_IN();
  Bench bench;
  const loop::CudaSource chosen = bench.shaped();
  CHECK(chosen.text.text == bench.table().text.text);
  CHECK(!given(chosen));
  CHECK(bench.compiler->history().empty());
  CHECK(bench.compiler->cache().list().empty());
}

TEST_CASE("tuner: a slow candidate is dropped after a round; one that cannot be launched is refused") {
  ONDULA_NEEDS_STAND_IN();
  Bench bench;
  const passes::CudaShape broken{false, {32, 16}, 2, 1};
  const loop::CudaSource chosen = bench.shaped(bench.meter([&](const passes::CudaShape& shape, int) {
    if (shape == broken) throw RuntimeError("no such launch");
    return shape == wide ? 0.5e-3 : 2e-3;
  }));
  CHECK(shape_in(chosen) == wide);
  const auto record = bench.compiler->cache().load_record(bench.full_subject());
  REQUIRE(record);
  bool found = false;
  for (const jit::TunedCandidate& candidate : record->kernels.back().candidates)
    found |= candidate.shape == broken && candidate.refused == "no such launch" && candidate.seconds == 0;
  CHECK(found);
  // The table and the best in seven rounds; all others in the first alone.
  CHECK(bench.asked == 7 * 2 + static_cast<int>(record->kernels.back().candidates.size()) - 2);
}

TEST_CASE("tuner: where measuring fails, for want of memory or by a lost device, the table's shapes stand") {
  ONDULA_NEEDS_STAND_IN();
  Bench bench;
  const loop::CudaSource none =
      bench.shaped([]() -> std::unique_ptr<loop::CudaMeter> { throw RuntimeError("no memory"); });
  CHECK(none.text.text == bench.table().text.text);
  CHECK(!given(none));
  REQUIRE(bench.warnings.all().size() == 1);
  CHECK(bench.warnings.all()[0].find("could not be measured: no memory") != std::string::npos);
  const loop::CudaSource lost = bench.shaped(bench.meter([](const passes::CudaShape&, int round) -> double {
    if (round > 2) throw RuntimeError("device lost");
    return 1e-3;
  }));
  CHECK(!given(lost));
  CHECK(!bench.compiler->cache().load_record(bench.full_subject()));
}

TEST_CASE(
    "tuner: records that are broken, cut, of another device or grid, or of shapes that cannot be, are not "
    "used") {
  ONDULA_NEEDS_STAND_IN();
  Bench bench;
  static_cast<void>(bench.shaped(bench.meter(prefers(wide, 0.5e-3))));
  const auto path = bench.compiler->cache().record_path(bench.full_subject());
  const std::string whole = read_bytes(path);
  const jit::TuningRecord sound = *bench.compiler->cache().load_record(bench.full_subject());
  const auto refused = [&](const std::string& bytes, const char* reason) {
    write_bytes(path, bytes);
    const std::size_t before = bench.warnings.all().size();
    const loop::CudaSource chosen = bench.shaped();
    CHECK(chosen.text.text == bench.table().text.text);
    CHECK(!given(chosen));
    CHECK(!std::filesystem::exists(path));
    REQUIRE(bench.warnings.all().size() == before + 1);
    CHECK(bench.warnings.all().back().find(reason) != std::string::npos);
  };
  refused("", "is of no use");
  refused(whole.substr(0, whole.size() - 20), "is of no use");
  std::string changed = whole;
  changed.replace(changed.find("\"min_blocks\":"), 14, "\"min_blocks\":3");
  refused(changed, "checksum");
  const auto with = [&](auto change) {
    jit::TuningRecord own = sound;
    change(own);
    return jit::encode_record(own);
  };
  refused(with([](auto& r) { r.subject.device = "another"; }), "another program, device or grid");
  refused(with([](auto& r) { r.subject.grid = "z 64, x 64"; }), "another program, device or grid");
  refused(with([](auto& r) { r.kernels.back().candidates[r.kernels.back().chosen].shape.block = {48, 3}; }),
          "a block of 48x3 threads");
  refused(with([](auto& r) { r.kernels.back().candidates[r.kernels.back().chosen].shape.min_blocks = 900; }),
          "900 blocks");
  refused(with([](auto& r) { r.kernels.back().candidates[r.kernels.back().chosen].shape.march = true; }),
          "marching");
  refused(with([](auto& r) { r.kernels.back().name = "another"; }), "no kernel");
  refused(with([](auto& r) { r.kernels.pop_back(); }), "kernels");
  // Another device, another driver or another size of grid just has none.
  write_bytes(path, whole);
  for (const auto change : {+[](jit::TuningSubject& s) { s.device = "another"; },
                            +[](jit::TuningSubject& s) { s.driver = "12.0"; },
                            +[](jit::TuningSubject& s) { s.grid = "z 64, x 64"; }}) {
    const jit::TuningSubject before = bench.subject;
    change(bench.subject);
    CHECK(!given(bench.shaped()));
    bench.subject = before;
  }
  CHECK(given(bench.shaped()));
}

TEST_CASE(
    "tuner: a candidate that keeps values in local memory where the table's shape does not is never timed") {
  ONDULA_NEEDS_NVRTC();
  Warnings warnings;
  const TemporaryDirectory directory;
  const auto compiler = std::make_shared<jit::CudaCompiler>(cache_in(directory), warnings.sink());
  const passes::Compilation compilation = passes::compile(
      equations::acoustic_density(), {.axes = default_axes(2), .order = 16, .target = passes::Target::cuda});
  const auto table = [&] {
    return loop::cuda_source(compilation, layered({64, 64}, 5), DType::float32, 0, {8, 0, "", false}, false);
  };
  int asked = 0;
  // The more blocks are wanted on a multiprocessor, the faster: the table's shape is never the best.
  const Times times = [](const passes::CudaShape& shape, int) { return 1e-3 / shape.min_blocks; };
  jit::TuningSubject subject{"", "pretended GPU", 108, "13.0", "z 64, x 64"};
  loop::CudaTuner tuner(compiler, warnings.sink());
  const loop::CudaSource chosen =
      tuner.shaped(table(), subject, [&] { return std::make_unique<InventedMeter>(times, asked); });
  subject.program = compiler->key_of(table().text, table().architecture);
  const auto record = compiler->cache().load_record(subject);
  REQUIRE(record);
  int spilling = 0;
  for (const jit::TunedKernel& kernel : record->kernels) {
    CHECK(kernel.candidates[kernel.chosen].refused == "");
    for (const jit::TunedCandidate& candidate : kernel.candidates) {
      if (candidate.refused.find("bytes of local memory") == std::string::npos) continue;
      ++spilling;
      CHECK(candidate.seconds == 0);
    }
  }
  CHECK(spilling > 0);
  const auto module = loop::compile_cuda(chosen, *compiler)->module;
  for (const jit::KernelUse& use : module->use().kernels) CHECK(use.stack_bytes == 0);
  CHECK(warnings.all().empty());
}

TEST_CASE("tuner: the meter of launches times every kernel of forward, keeping and adjoint steps by events") {
  ONDULA_NEEDS_STAND_IN();
  const SimDriver driver(untouched());
  const auto compiler = sim_compiler();
  for (const DType dtype : {DType::float32, DType::float64}) {
    const passes::AdjointCompilation both = passes::compile_adjoint(
        equations::acoustic(), {.axes = default_axes(2), .order = 2, .target = passes::Target::cuda});
    loop::EngineSetup setup;
    setup.domain = layered({40, 30}, 5);
    setup.symbols = {{"dt", 1e-3}, {"h_z", 10}, {"h_x", 10}};
    setup.dtype = dtype;
    for (const passes::Compilation* compilation : {&both.forward, &both.backward}) {
      const auto kernels = loop::compile_cuda(
          loop::cuda_source(*compilation, setup.domain, dtype, 0, {9, 0, "", false}, dtype == DType::float64),
          *compiler);
      loop::CudaLaunchMeter meter(
          std::make_unique<cuda::Device>(cuda::DeviceOptions{cuda::Driver::open(cuda::stand_in_library())}),
          compilation->kernels, setup);
      for (std::size_t k = 0; k < kernels->program.kernels.size(); ++k) {
        CAPTURE(kernels->program.kernels[k].name);
        for (int repeat = 0; repeat < 2; ++repeat) {
          const double seconds = meter.seconds(kernels, k);
          CHECK(seconds > 0);
          CHECK(seconds < 1);
        }
      }
    }
  }
  CHECK(leaks(driver) == "");
  CHECK(driver.report() == "");
}

}  // namespace ondula::test
