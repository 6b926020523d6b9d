// Sectors that generated kernels move, counted access by access, against what is predicted from their text.
// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <cmath>

#include "compiler/passes/cuda_schedule.hpp"
#include "compiler/passes/pipeline.hpp"
#include "equations/equations.hpp"
#include "tests/equations/engines.hpp"
#include "tests/runtime/device/sim/program_bench.hpp"
#include "tests/runtime/device/sim/sim_device.hpp"
#include "tests/runtime/jit/support.hpp"

namespace ondula::test {
namespace {

/// Bytes of one launch, or a point's share of them.
struct Traffic {
  double dram = 0, l2 = 0;
};

/// A program and its compiled kernels.
struct Counted {
  explicit Counted(const ir::CudaProgram& made)
      : program(made), kernels(sim_program(program, emit::Real::float32)) {}
  Counted(const EquationDefinition& equation, int dims, int sm)
      : Counted(cuda_program(equation, dims, 8, {sm, 4, 32})) {}

  ir::CudaProgram program;
  std::shared_ptr<sim::Program> kernels;
};

/// Of every kernel, blocks marching through all planes.
std::map<std::string, Traffic> one_step(const Counted& of, const ir::Domain& domain) {
  ProgramBench bench(of.program, of.kernels, domain, {.count = true, .planes = domain.total(0) + 16});
  bench.step();
  for (const sim::Finding& finding : bench.findings) CHECK(finding.text == "");
  std::map<std::string, Traffic> result;
  for (const auto& [name, counted] : bench.counters) {
    constexpr double sector = 32;
    result[name] = {sector * static_cast<double>(counted.sectors_read + counted.sectors_written),
                    sector * static_cast<double>(counted.block_sectors_read + counted.block_sectors_written)};
  }
  return result;
}

/// What one point more costs in the middle of a grid: bytes are a polynomial of degree 1 in each extent,
/// whose highest coefficient is what is left of the grids between `small` and twice it. Halos are in the
/// others.
std::map<std::string, Traffic> per_point(const Counted& of, const std::vector<std::int64_t>& small,
                                         const ir::Domain& faces) {
  std::map<std::string, Traffic> sum;
  double points = 1;
  for (const std::int64_t n : small) points *= static_cast<double>(n);
  for (unsigned corner = 0; corner < 1U << small.size(); ++corner) {
    ir::Domain domain = faces;
    double sign = 1;
    for (std::size_t a = 0; a < small.size(); ++a) {
      const bool twice = (corner >> a & 1U) != 0;
      domain.shape[a] = twice ? 2 * small[a] : small[a];
      if (!twice) sign = -sign;
    }
    for (const auto& [name, traffic] : one_step(of, domain)) {
      sum[name].dram += sign * traffic.dram / points;
      sum[name].l2 += sign * traffic.l2 / points;
    }
  }
  return sum;
}

/// Grids of whole blocks.
std::map<std::string, Traffic> per_point(const Counted& of) {
  const std::vector<std::int64_t> small = of.program.set.program.dims() == 2
                                              ? std::vector<std::int64_t>{16, 32}
                                              : std::vector<std::int64_t>{8, 16, 32};
  return per_point(of, small, layered(small, 0));
}

void check_predictions(const Counted& of) {
  const auto counted = per_point(of);
  int kernels = 0;
  for (const ir::CudaKernel& kernel : of.program.kernels) {
    if (kernel.strip_axis >= 0) continue;
    CAPTURE(kernel.name);
    CAPTURE(kernel.march);
    const Traffic& found = counted.at(kernel.name);
    CHECK(found.dram == doctest::Approx(kernel.figures.dram_bytes).epsilon(0.01));
    CHECK(found.l2 == doctest::Approx(kernel.figures.l2_bytes).epsilon(0.01));
    ++kernels;
  }
  CHECK(kernels > 0);
}

}  // namespace

TEST_CASE(
    "cuda-sim counts: acoustic 3-D order 8 takes 16 bytes a point of DRAM, of L2 54 plain and 24 marching") {
  ONDULA_NEEDS_CLANG();
  const Counted plain(equations::acoustic(), 3, 80), march(equations::acoustic(), 3, 90);
  const std::string kernel = plain.program.kernels.back().name;
  const Traffic by_plane = per_point(plain).at(kernel), marching = per_point(march).at(kernel);
  CHECK(by_plane.dram == doctest::Approx(16));
  CHECK(marching.dram == doctest::Approx(16));
  CHECK(by_plane.l2 == doctest::Approx(54));
  CHECK(marching.l2 == doctest::Approx(24));
  CHECK(plain.program.kernels.back().figures.l2_bytes == doctest::Approx(54));
  CHECK(march.program.kernels.back().figures.l2_bytes == doctest::Approx(24));
  // With the halo of a whole grid.
  const double points = 96 * 96 * 96;
  CHECK(one_step(march, layered({96, 96, 96}, 0)).at(kernel).dram / points ==
        doctest::Approx(16).epsilon(0.1));
}

TEST_CASE("cuda-sim counts: DRAM and L2 bytes of forward kernels are those predicted from the text") {
  ONDULA_NEEDS_CLANG();
  check_predictions({equations::acoustic(), 2, 80});
  check_predictions({equations::acoustic_density(), 2, 80});
  check_predictions({equations::acoustic_density(), 3, 90});
  check_predictions({equations::elastic(), 2, 80});
  check_predictions({equations::elastic(), 3, 90});
}

TEST_CASE("cuda-sim counts: DRAM and L2 bytes of adjoint kernels are those predicted from the text") {
  ONDULA_NEEDS_CLANG();
  const auto adjoint = [](const EquationDefinition& equation, int dims, int sm) {
    const passes::PipelineOptions options{
        .axes = default_axes(dims), .order = 8, .target = passes::Target::cuda};
    return Counted(
        passes::cuda_schedule(passes::compile_adjoint(equation, options).backward.kernels, {sm, 4, 32}));
  };
  check_predictions(adjoint(equations::acoustic(), 3, 90));
  check_predictions(adjoint(equations::acoustic_density(), 2, 80));
  check_predictions(adjoint(equations::elastic(), 2, 80));
}

TEST_CASE("cuda-sim counts: a box that begins inside a sector asks L2 for one more of each row") {
  ONDULA_NEEDS_CLANG();
  const Counted of(equations::acoustic(), 2, 80);
  ir::Domain surface = layered({16, 32}, 0);
  surface.faces[1] = {FaceKind::free_surface, FaceKind::rigid};
  const ir::CudaKernel& kernel = of.program.kernels.back();
  const Traffic found = per_point(of, {16, 32}, surface).at(kernel.name);
  CHECK(found.dram == doctest::Approx(kernel.figures.dram_bytes).epsilon(0.01));
  CHECK(found.l2 > 1.1 * kernel.figures.l2_bytes);
}

}  // namespace ondula::test
