// Histories below a CUDA device, on the stand-in driver: the host's bits in every mode, and bytes as
// foretold. SPDX-License-Identifier: MIT
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <filesystem>

#include "compiler/error.hpp"
#include "runtime/loop/cuda_tier.hpp"
#include "tests/runtime/device/cuda/on_sim.hpp"
#include "tests/runtime/gradient/pairs.hpp"
#include "tests/runtime/storage/faulty_files.hpp"
#include "tests/support/environment.hpp"
#include "tests/support/messages.hpp"
#include "tests/support/temporary_directory.hpp"

namespace ondula::test {
namespace {

constexpr std::array<const char*, 3> equations_here = {"acoustic", "acoustic_density", "elastic"};
constexpr std::array<int, 3> modes = {ONDULA_SIM_FAST, ONDULA_SIM_SHUFFLE, ONDULA_SIM_CHECK};

Problem below(Problem problem, Tier tier, const TemporaryDirectory& folder) {
  problem.options.storage.steps = tier;
  problem.options.storage.scratch = folder.path().string();
  return problem;
}

}  // namespace

TEST_CASE("cuda-sim tiers: history in pinned memory or on disk gives the host's bits in every mode") {
  ONDULA_NEEDS_STAND_IN();
  const std::vector<std::size_t> levels = {2, equations_here.size(), 2, 2, 2, modes.size(), 2, 2};
  const auto allowed = [](const Row& row) {
    return modes[row[5]] == ONDULA_SIM_FAST ||
           row[2] == 0;  // small grids only where each access is looked at
  };
  const auto compiler = sim_compiler();
  for (const Row& row : full_matrices() ? whole_matrix(levels, allowed) : cover_by_pairs(levels, allowed)) {
    Setting setting;
    setting.equation = equations_here[row[1]];
    setting.dims = row[2] == 0 ? 2 : 3;
    setting.dtype = row[3] == 0 ? DType::float32 : DType::float64;
    setting.substeps = row[4] == 0 ? 1 : 3;
    setting.initial = row[4] == 0;
    setting.steps = (setting.substeps == 1 ? 32 : 11);  // more than a window
    const int mode = modes[row[5]];
    use_graphs(row[6] == 0);
    CAPTURE(text(setting));
    CAPTURE(mode);
    CAPTURE(row[0]);
    Problem problem = random_problem(setting);
    problem.shots.resize(1 + row[7], problem.shots.front());
    const Everything host = everything(problem);
    const TemporaryDirectory folder;
    const SimDriver driver(untouched(mode, 7 + row[0]));
    {
      Problem own =
          below(on(problem, Backend::cuda_sim, compiler), row[0] == 0 ? Tier::host : Tier::disk, folder);
      own.options.shot_batch = static_cast<int>(1 + row[7]);
      own.options.poison = mode == ONDULA_SIM_CHECK;
      CHECK(fmt::format("{}", fmt::join(differences(everything(own), host), "; ")) == "");
    }
    CHECK(driver.report() == "");
    CHECK(leaks(driver) == "");
    CHECK(std::filesystem::is_empty(folder.path()));
  }
  use_graphs(true);
}

TEST_CASE(
    "B10: large slots go to a slow disk in blocks of two steps, with the bits of a history on the device") {
  ONDULA_NEEDS_STAND_IN();
  Setting setting;
  setting.equation = "elastic";
  setting.dims = 3;
  setting.dtype = DType::float32;
  setting.order = 2;
  setting.more = 30;
  setting.steps = 12;
  const auto compiler = sim_compiler();
  const Problem problem = on(random_problem(setting), Backend::cuda_sim, compiler);
  const SimDriver driver({.memory = std::uint64_t{2} << 30, .context = false});
  const Gradient expected = [&] {
    Propagator propagator = problem.propagator();
    return every_derivative(propagator, problem);
  }();
  for (const int mode : {ONDULA_SIM_FAST, ONDULA_SIM_SHUFFLE}) {
    CAPTURE(mode);
    driver.set_mode(mode, 3);
    const TemporaryDirectory folder;
    Problem own = below(problem, Tier::disk, folder);
    const auto files = std::make_shared<FaultyFiles>();
    files->bytes_per_second = 30e6;  // slower than the steps
    own.options.scratch_files = files;
    Propagator propagator = own.propagator();
    const Gradient found = every_derivative(propagator, own);
    CHECK(files->writes.load() == 13);
    CHECK(fmt::format("{}", fmt::join(differences({{}, {}, found}, {{}, {}, expected}), "; ")) == "");
  }
  CHECK(driver.report() == "");
}

}  // namespace ondula::test
