// Tests that launch shapes change no bit, and that none are tuned where times tell nothing.
// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "compiler/error.hpp"
#include "compiler/passes/cuda_candidates.hpp"
#include "runtime/loop/cuda_tuner.hpp"
#include "tests/runtime/device/cuda/on_sim.hpp"
#include "tests/runtime/propagator/small.hpp"
#include "tests/support/environment.hpp"
#include "tests/support/temporary_directory.hpp"

namespace ondula::test {
namespace {

/// Gives every kernel the candidate of one number, or the table's where it has fewer.
class Nth final : public loop::CudaTuner {
 public:
  Nth(std::shared_ptr<jit::CudaCompiler> compiler, std::size_t number)
      : CudaTuner(std::move(compiler)), number_(number) {}
  loop::CudaSource shaped(loop::CudaSource table, jit::TuningSubject subject,
                          const loop::MakeCudaMeter& make) override {
    REQUIRE(!make);
    REQUIRE(subject.multiprocessors > 0);
    REQUIRE(!subject.grid.empty());
    passes::CudaShapes shapes;
    for (const ir::CudaKernel& kernel : table.program.kernels) {
      const auto all = passes::cuda_candidates(table.program, kernel);
      most = std::max(most, all.size());
      if (number_ >= all.size()) continue;
      shapes[kernel.name] = all[number_];
      ++used;
    }
    return loop::with_shapes(table, shapes);
  }
  std::size_t most = 0, used = 0;

 private:
  std::size_t number_;
};

void every_shape(const Setting& setting, std::size_t step) {
  CAPTURE(text(setting));
  const SimDriver driver(untouched());
  const Problem problem = random_problem(setting);
  const Everything host = everything(problem);
  const auto compiler = sim_compiler();
  Problem own = on(problem, Backend::cuda_sim, compiler);
  std::size_t most = 2, tried = 0;
  std::set<std::string> shapes;
  for (std::size_t number = 1; number < most; number += full_matrices() ? 1 : step) {
    CAPTURE(number);
    const auto tuner = std::make_shared<Nth>(compiler, number);
    own.options.cuda_tuner = tuner;
    Propagator propagator = own.propagator();
    const Everything found = everything(propagator, own);
    CHECK(fmt::format("{}", fmt::join(differences(found, host), "; ")) == "");
    const std::vector<LaunchShape> launched = propagator.launch_shapes();
    CHECK(static_cast<std::size_t>(std::count_if(launched.begin(), launched.end(), [](const LaunchShape& l) {
            return l.recorded;
          })) == tuner->used);
    for (const LaunchShape& shape : launched) shapes.insert(shape.shape);
    most = std::max(most, tuner->most);
    ++tried;
  }
  CHECK(tried >= 3);
  CHECK(shapes.size() >= tried);
}

Setting setting(const std::string& equation, int dims, int order) {
  Setting s;
  s.equation = equation;
  s.dims = dims;
  s.order = order;
  s.dtype = DType::float32;
  s.faces = "flllll";
  s.steps = dims == 3 ? 8 : 30;
  s.initial = true;
  return s;
}

}  // namespace

TEST_CASE("tuner: every candidate shape, plain or marching, gives the host's bits: acoustic in 3-D") {
  ONDULA_NEEDS_STAND_IN();
  every_shape(setting("acoustic", 3, 2), 4);
}

TEST_CASE("tuner: every candidate shape gives the host's bits: variable density in 1-D, elastic in 2-D") {
  ONDULA_NEEDS_STAND_IN();
  every_shape(setting("acoustic_density", 1, 4), 1);
  every_shape(setting("elastic", 2, 2), 2);
}

TEST_CASE(
    "tuner: a Propagator that tunes measures once for each step it compiles, and its results are the "
    "host's") {
  ONDULA_NEEDS_STAND_IN();
  const SimDriver driver(untouched());
  const TemporaryDirectory directory;
  const Problem problem = random_problem(setting("acoustic", 1, 2));
  const Everything host = everything(problem);
  const jit::CacheOptions cache{.directory = directory.path().string()};
  std::vector<std::string> told;
  const auto run = [&](bool tune) {
    // A tuner of the caller's measures on the stand-in too.
    Problem own = on(problem, Backend::cuda_sim, sim_compiler(cache));
    const auto log = [&](const std::string& text) { told.push_back(text); };
    own.options.cuda_tuner =
        std::make_shared<loop::CudaTuner>(own.options.cuda_compiler, log, loop::CudaTunerRules{.rounds = 2});
    own.options.tune = tune;
    Propagator propagator = own.propagator();
    const std::string different =
        fmt::format("{}", fmt::join(differences(everything(propagator, own), host), "; "));
    CHECK(different == "");
    const auto shapes = propagator.launch_shapes();
    CHECK(shapes.size() > 2);
    CHECK(std::all_of(shapes.begin(), shapes.end(), [](const LaunchShape& s) { return s.recorded; }));
    return propagator.timings();
  };
  const Timings tuned = run(true);
  CHECK(tuned.tuning > 0);
  CHECK(tuned.compile > 0);
  jit::Cache records(cache, {});
  const auto count = [&] {
    const auto listed = records.list();
    return std::count_if(listed.begin(), listed.end(), [](const auto& l) { return l.record.has_value(); });
  };
  CHECK(count() == 3);  // the forward step, the one that keeps, the adjoint
  CHECK(run(true).tuning == 0);
  CHECK(run(false).tuning == 0);
  CHECK(count() == 3);
  CHECK(told.empty());
  CHECK(leaks(driver) == "");
}

TEST_CASE("tuner: cuda-sim, asked to tune, says that it does not, keeps the table and writes no record") {
  ONDULA_NEEDS_STAND_IN();
  const SimDriver driver(untouched());
  const TemporaryDirectory directory;
  std::vector<std::string> told;
  const auto run = [&](bool tune) {
    PropagatorOptions options = small_options();
    options.backend = Backend::cuda_sim;
    options.cache.directory = directory.path().string();
    options.tune = tune;
    options.log = [&](const std::string& text) { told.push_back(text); };
    Propagator propagator(equations::acoustic(), small_grid(2), options);
    const auto shapes = propagator.launch_shapes();
    CHECK(!shapes.empty());
    CHECK(std::none_of(shapes.begin(), shapes.end(), [](const LaunchShape& s) { return s.recorded; }));
    CHECK(propagator.timings().tuning == 0);
    return small_record(propagator, 2);
  };
  const auto untuned = run(false);
  CHECK(told.empty());
  CHECK(run(true) == untuned);
  REQUIRE(told.size() == 1);
  CHECK(told[0].find("cuda-sim, whose times tell nothing") != std::string::npos);
  const jit::Cache cache({.directory = directory.path().string()}, {});
  const auto listed = cache.list();
  CHECK(listed.size() == 1);
  CHECK(std::none_of(listed.begin(), listed.end(), [](const auto& l) { return l.record.has_value(); }));
}

TEST_CASE("tuner: on a backend without launch shapes it is refused, by name") {
  PropagatorOptions options = small_options();
  options.tune = true;
  CHECK_THROWS_WITH_AS(Propagator(equations::acoustic(), small_grid(2), options),
                       doctest::Contains("launch shapes are tuned on the backend cuda; the backend is host"),
                       UserError);
}

}  // namespace ondula::test
