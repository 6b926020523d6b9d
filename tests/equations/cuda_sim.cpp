// Every equation through the stand-in driver: the bits of the host, forward and adjoint.
// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>

#include "tests/runtime/device/cuda/on_sim.hpp"
#include "tests/runtime/gradient/pairs.hpp"
#include "tests/support/environment.hpp"

namespace ondula::test {
namespace {

constexpr std::array<const char*, 3> equations_here = {"acoustic", "acoustic_density", "elastic"};
constexpr std::array<int, 4> orders = {2, 4, 8, 12};
constexpr std::array<const char*, 2> faces = {"l", "flllll"};

/// Levels: equation, dimensions, order, type, faces, substeps, stretching of the layer.
Setting setting_of(const Row& row) {
  Setting s;
  s.equation = equations_here[row[0]];
  s.dims = static_cast<int>(row[1]) + 1;
  s.order = orders[row[2]];
  s.dtype = row[3] == 0 ? DType::float32 : DType::float64;
  s.faces = faces[row[4]];
  s.substeps = static_cast<int>(row[5]) + 1;
  s.kappa = row[6] == 0 ? 1 : 1.5;
  s.initial = true;
  s.steps = s.dims == 3 ? 14 : 60;  // 60: more than one graph, and a rest
  s.seed = 3 + row[2];
  return s;
}

std::vector<Row> rows() {
  const std::vector<std::size_t> levels = {equations_here.size(), 3, orders.size(), 2, faces.size(), 2, 2};
  // Kernels of nested derivatives have no stretched layers. The longest texts take seconds each to compile.
  const auto allowed = [](const Row& row) { return row[0] != 1 || row[6] == 0; };
  const auto quick = [&](const Row& row) {
    const std::size_t most = row[0] == 2 ? 1 : row[0] == 1 ? 2 : 3;  // orders in 3-D
    return allowed(row) && (row[1] < 2 || row[2] < most);
  };
  // Whole in the first five; substeps and stretched layers take turns.
  const auto once = [&](const Row& row) {
    const std::size_t turn = row[2] + row[3] + row[4], other = row[1] + row[2] + row[4];
    return row[5] == turn % 2 && row[6] == (row[0] == 1 ? 0 : other % 2);
  };
  return full_matrices() ? whole_matrix(levels, once) : cover_by_pairs(levels, quick);
}

/// One way to run on the stand-in.
struct Way {
  int mode = ONDULA_SIM_FAST;
  std::uint64_t seed = 0;
  bool graphs = true;
  std::string text() const { return fmt::format("mode {}, seed {}, graphs {}", mode, seed, graphs); }
};

void same_as_host(const Setting& setting, const std::vector<Way>& ways) {
  CAPTURE(text(setting));
  const Problem problem = random_problem(setting);
  const Everything host = everything(problem);
  const auto compiler = sim_compiler();
  for (const Way& way : ways) {
    CAPTURE(way.text());
    use_graphs(way.graphs);
    const SimDriver driver(untouched(way.mode, way.seed));
    {
      Problem own = on(problem, Backend::cuda_sim, compiler);
      own.options.poison = way.mode == ONDULA_SIM_CHECK;
      const Everything found = everything(own);
      const std::string different = fmt::format("{}", fmt::join(differences(found, host), "; "));
      CHECK(different == "");
    }
    CHECK(leaks(driver) == "");
    CHECK(driver.report() == "");
  }
}

void matrix(std::size_t equation) {
  const std::uint64_t seeds = full_matrices() ? 20 : 2;
  std::vector<Way> ways = {{}};
  for (std::uint64_t seed = 1; seed <= seeds; ++seed)
    ways.push_back({ONDULA_SIM_SHUFFLE, seed, seed % 2 == 0});
  std::size_t count = 0;
  for (const Row& row : rows()) {
    if (row[0] != equation) continue;
    same_as_host(setting_of(row), ways);
    ++count;
  }
  REQUIRE(count > 3);
}

}  // namespace

TEST_CASE("D11: cuda-sim: acoustic runs and gradients have the host's bits, in order and shuffled") {
  ONDULA_NEEDS_STAND_IN();
  matrix(0);
}

TEST_CASE("D11: cuda-sim: variable density has the host's bits, in order and shuffled") {
  ONDULA_NEEDS_STAND_IN();
  matrix(1);
}

TEST_CASE("D11: cuda-sim: elastic runs and gradients have the host's bits, in order and shuffled") {
  ONDULA_NEEDS_STAND_IN();
  matrix(2);
}

TEST_CASE("cuda-sim: check mode finds nothing in runs and gradients, through graphs and without") {
  ONDULA_NEEDS_STAND_IN();
  std::size_t count = 0;
  for (std::size_t equation = 0; equation < equations_here.size(); ++equation) {
    for (const int dims : {1, 2, 3}) {
      for (const int order : orders) {
        for (const char* face : faces) {
          // Each kind of kernel once: plain, nested and in components, marching in 3-D.
          const int usual = dims == 2 && equation == 1 ? 4 : 2;
          const bool kind = dims == 2 || (dims == 3 && equation == 0) || (dims == 1 && equation == 1);
          if (!full_matrices() && !(kind && order == usual && face == faces[1])) continue;
          Setting s;
          s.equation = equations_here[equation];
          s.dims = dims;
          s.order = order;
          s.faces = face;
          s.dtype = (order / 4) % 2 == 0 ? DType::float32 : DType::float64;
          if (!full_matrices()) s.dtype = DType::float32;
          s.steps = dims == 3 ? 3 : 8;
          s.initial = true;
          same_as_host(s, {{ONDULA_SIM_CHECK, 1, dims != 2}});
          ++count;
        }
      }
    }
  }
  REQUIRE(count >= 5);
}

}  // namespace ondula::test
