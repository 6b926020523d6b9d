// Boundary saving against full storage: the interior's gradient, and records to the bit.
// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <optional>
#include <string>

#include "tests/runtime/device/cuda/on_sim.hpp"
#include "tests/runtime/gradient/pairs.hpp"
#include "tests/runtime/gradient/problem.hpp"
#include "tests/support/environment.hpp"

namespace ondula::test {
namespace {

/// max|a - b|/max|b| over all parameters of one array.
double difference(const std::vector<double>& a, const std::vector<double>& b) {
  REQUIRE(a.size() == b.size());
  double most = 0, size = 1e-300;
  for (std::size_t i = 0; i < a.size(); ++i) {
    most = std::max(most, std::fabs(a[i] - b[i]));
    size = std::max(size, std::fabs(b[i]));
  }
  return most / size;
}

Gradient gradient_of(Problem problem, Storage keep) {
  problem.options.storage.keep = keep;
  GradientOptions options;
  options.extent = Extent::interior;
  options.wavelets = options.initial = options.records = true;
  Propagator propagator = problem.propagator();
  const LeastSquares misfit(problem);
  return propagator.gradient(problem.shots, misfit.function(), options);
}

struct Found {
  double models = 0;    ///< the largest difference
  std::string rounded;  ///< what rounds more than the bar with full storage as well
};

/// Gradients in float64, by full storage.
Gradient exact(Problem problem) {
  problem.options.dtype = DType::float64;
  return gradient_of(problem, Storage::full);
}

/// Checks the interior's gradients against full storage's.
Found compare_models(const Setting& setting, const Problem& problem, const Gradient& rebuilt,
                     const Gradient& full, double bar32) {
  Found found;
  std::optional<Gradient> reference;
  for (const auto& [name, values] : full.models) {
    CAPTURE(name);
    if (name == "vs" && setting.dims == 1) continue;  // no shear: nothing but rounding
    const double own = difference(rebuilt.models.at(name), values);
    const double bar = setting.dtype == DType::float64 ? 1e-12 : bar32;
    // Where waves leave a fluid of noise, gradients are small beside what they are sums of, and full storage
    // in float32 is itself so far from float64: two such results agree no better.
    if (setting.dtype == DType::float32 && own >= bar) {
      if (!reference) reference = exact(problem);
      const double fulls = difference(values, reference->models.at(name));
      found.rounded += fmt::format(" {} {:.1e}, full storage from float64 {:.1e}", name, own, fulls);
      CHECK(own < bar + fulls);
      continue;
    }
    found.models = std::max(found.models, own);
    CHECK(own < bar);
  }
  return found;
}

Found compare(const Setting& setting) {
  CAPTURE(text(setting));
  // Most steps are half the limit or more. In half the time the waves of the larger grids here do not reach
  // each other, and gradients are products of their precursors, which rounding of the rest is large beside
  // (2e-3).
  Problem problem = random_problem(setting);
  problem.options.dt *= setting.dims == 3 ? 1.8 : 2;
  // In 1-D, where nothing spreads, rounding comes to 3.1e-5 at any step.
  const bool wide =
      setting.dims == 1 ||
      problem.options.dt < 0.5 * setting.substeps * problem.propagator().estimate(problem.shots).cfl_limit;
  const Gradient full = gradient_of(problem, Storage::full);
  const Gradient rebuilt = gradient_of(problem, Storage::boundary);
  Found found = compare_models(setting, problem, rebuilt, full, wide ? 5e-5 : 1e-5);
  for (std::size_t s = 0; s < full.records.size(); ++s) {
    for (const auto& [field, traces] : full.records[s])
      CHECK(rebuilt.records[s].at(field).data == traces.data);
  }
  // The adjoint itself has nothing to do with how the forward run is found again.
  CHECK(rebuilt.wavelets == full.wavelets);
  CHECK(rebuilt.initial == full.initial);
  CHECK(rebuilt.shot_misfits == full.shot_misfits);
  return found;
}

constexpr std::array<const char*, 3> equations_here = {"acoustic", "acoustic_density", "elastic"};
constexpr std::array<int, 4> orders = {2, 4, 8, 12};
constexpr std::array<const char*, 4> faces = {"l", "flllll", "lrpplf", "lfrlaa"};

/// Levels: equation, dimensions, order, type, faces, substeps, initial state and fluid, nodes more.
Setting setting_of(const Row& row, Backend backend) {
  Setting s;
  s.equation = equations_here[row[0]];
  s.dims = static_cast<int>(row[1]) + 1;
  s.order = orders[row[2]];
  s.dtype = row[3] == 0 ? DType::float32 : DType::float64;
  s.faces = faces[row[4]];
  s.substeps = static_cast<int>(row[5]) * 2 + 1;
  s.initial = row[6] % 2 == 1;
  s.fluid = row[6] > 1;
  s.steps = s.dims == 3 ? 20 : 60;
  s.seed = 3 + row[2];
  s.more = static_cast<std::int64_t>(row[7]) * (s.dims == 3 ? 8 : 24);
  s.backend = backend;
  return s;
}

void cover(std::size_t equation, Backend backend) {
  const std::vector<std::size_t> levels = {equations_here.size(), 3, orders.size(), 2, faces.size(), 2, 4, 2};
  const auto allowed = [&](const Row& row) {
    if (row[0] != 2 && row[6] > 1) return false;
    // Eight nodes between a layer and a surface are too few for density's gradient of order 12.
    if (row[0] == 1 && row[1] == 2 && row[2] == 3 && row[7] == 0) return false;
    return backend == Backend::host || row[1] < 2 || (row[2] < 2 && row[7] == 0);
  };
  double worst32 = 0, worst64 = 0;
  std::size_t count = 0, rounded = 0;
  for (const Row& row : full_matrices() ? whole_matrix(levels, allowed) : cover_by_pairs(levels, allowed)) {
    if (row[0] != equation) continue;
    const Found found = compare(setting_of(row, backend));
    double& worst = row[3] == 0 ? worst32 : worst64;
    worst = std::max(worst, found.models);
    ++count;
    if (found.rounded.empty()) continue;
    ++rounded;
    MESSAGE(fmt::format("{}:{}", text(setting_of(row, backend)), found.rounded));
  }
  REQUIRE(count > 3);
  CHECK(100 * rounded <= count);
  MESSAGE(fmt::format("{} settings, largest difference {:.1e} (float32), {:.1e} (float64)", count, worst32,
                      worst64));
}

/// As the host has them, through graphs and without, shuffled and checked.
void same_bits(Setting setting, const std::function<void(Problem&)>& change = {}) {
  CAPTURE(text(setting));
  Problem problem = random_problem(setting);
  problem.options.storage.keep = Storage::boundary;
  if (change) change(problem);
  // Illumination is full storage's.
  const auto derivatives = [](const Problem& own) {
    Propagator propagator = own.propagator();
    Everything result;
    result.records = propagator.forward(own.shots);
    GradientOptions options;
    options.wavelets = options.initial = options.records = true;
    result.gradient = propagator.gradient(own.shots, LeastSquares(own).function(), options);
    return result;
  };
  const Everything host = derivatives(problem);
  const auto compiler = sim_compiler();
  for (const int mode : {ONDULA_SIM_FAST, ONDULA_SIM_SHUFFLE, ONDULA_SIM_CHECK}) {
    CAPTURE(mode);
    use_graphs(mode != ONDULA_SIM_SHUFFLE);
    const SimDriver driver(untouched(mode, 1));
    {
      Problem own = on(problem, Backend::cuda_sim, compiler);
      own.options.poison = mode == ONDULA_SIM_CHECK;
      const Everything found = derivatives(own);
      const std::string different = fmt::format("{}", fmt::join(differences(found, host), "; "));
      CHECK(different == "");
    }
    CHECK(leaks(driver) == "");
    CHECK(driver.report() == "");
  }
}

}  // namespace

TEST_CASE("boundary saving: acoustic, reference") { cover(0, Backend::reference); }
TEST_CASE("boundary saving: variable density, reference") { cover(1, Backend::reference); }
TEST_CASE("boundary saving: elastic, reference") { cover(2, Backend::reference); }
TEST_CASE("boundary saving: acoustic, compiled kernels") { cover(0, Backend::host); }
TEST_CASE("boundary saving: variable density, compiled kernels") { cover(1, Backend::host); }
TEST_CASE("boundary saving: elastic, compiled kernels") { cover(2, Backend::host); }

TEST_CASE("boundary saving: with checkpoints, on every tier, several shots at once") {
  using Kind = Checkpoints::Kind;
  const std::array<Checkpoints, 4> plans = {
      {{Kind::none, 0}, {Kind::segments, 3}, {Kind::segments, 7}, {Kind::revolve, 3}}};
  const std::array<Tier, 3> tiers = {Tier::device, Tier::host, Tier::disk};
  // Levels: equation, dimensions, plan, tier, backend, type.
  const std::vector<std::size_t> levels = {equations_here.size(), 2, plans.size(), tiers.size(), 2, 2};
  const auto all = [](const Row&) { return true; };
  const bool sim = !cuda::stand_in_library().empty();
  for (const Row& row : full_matrices() ? whole_matrix(levels, all) : cover_by_pairs(levels, all)) {
    Setting setting;
    setting.equation = equations_here[row[0]];
    setting.dims = static_cast<int>(row[1]) + 2;
    setting.dtype = row[5] == 0 ? DType::float32 : DType::float64;
    setting.faces = "flllll";
    setting.steps = setting.dims == 3 ? 20 : 60;
    setting.more = 8;
    if (row[4] == 1 && !sim) continue;
    CAPTURE(text(setting));
    CAPTURE(row[2]);
    CAPTURE(row[3]);
    CAPTURE(row[4]);
    Problem problem = random_problem(setting);
    problem.options.dt *= setting.dims == 3 ? 1.8 : 2;  // half the limit and more
    problem.shots.resize(3, problem.shots.front());
    for (std::size_t shot = 1; shot < 3; ++shot) {
      for (Source& source : problem.shots[shot].sources)
        for (double& v : source.wavelet) v *= 1.0 + static_cast<double>(shot);
    }
    const Gradient full = gradient_of(problem, Storage::full);
    if (row[4] == 1) problem = on(problem, Backend::cuda_sim, sim_compiler());
    problem.options.shot_batch = 2;
    problem.options.storage.checkpoints = plans[row[2]];
    const Gradient device = gradient_of(problem, Storage::boundary);
    problem.options.storage.steps = problem.options.storage.states = tiers[row[3]];
    const Gradient below = gradient_of(problem, Storage::boundary);
    CHECK(compare_models(setting, problem, device, full, 1e-5).rounded == "");
    CHECK(below.models == device.models);
    CHECK(below.wavelets == full.wavelets);
    CHECK(below.initial == full.initial);
  }
}

TEST_CASE("boundary saving: 2000 steps, stretched layers") {
  for (const char* equation : equations_here) {
    for (const DType dtype : {DType::float32, DType::float64}) {
      Setting setting;
      setting.equation = equation;
      setting.dtype = dtype;
      setting.order = 8;
      setting.faces = "flllll";
      setting.steps = 2000;
      setting.more = 24;
      if (setting.equation != "acoustic_density") setting.kappa = 3;
      MESSAGE(fmt::format("{}: {:.1e}", text(setting), compare(setting).models));
    }
  }
}

TEST_CASE("boundary saving: cuda-sim has the host's bits") {
  ONDULA_NEEDS_STAND_IN();
  const std::vector<std::size_t> levels = {equations_here.size(), 3, orders.size(), 2, faces.size(), 2, 4, 2};
  const auto allowed = [](const Row& row) {
    return (row[0] == 2 || row[6] < 2) && row[1] + row[2] < 4 && (row[1] < 2 || row[7] == 0);
  };
  for (const Row& row : full_matrices() ? whole_matrix(levels, allowed) : cover_by_pairs(levels, allowed)) {
    Setting setting = setting_of(row, Backend::host);
    if (setting.dims == 3) setting.steps = 10;
    same_bits(setting);
  }
}

}  // namespace ondula::test
