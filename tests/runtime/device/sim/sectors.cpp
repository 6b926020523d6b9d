// Sectors that generated kernels move, counted access by access, against what is predicted from their text.
// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>

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

std::map<std::string, Traffic> one_step(const ir::CudaProgram& program,
                                        const std::shared_ptr<sim::Program>& kernels,
                                        const ir::Domain& domain) {
  ProgramBench bench(program, kernels, domain, 0, true);
  bench.planes = domain.total(0);
  bench.step();
  std::map<std::string, Traffic> result;
  for (const auto& [name, counted] : bench.counters) {
    constexpr double sector = 32;
    result[name] = {sector * static_cast<double>(counted.sectors_read + counted.sectors_written),
                    sector * static_cast<double>(counted.block_sectors_read + counted.block_sectors_written)};
  }
  return result;
}

/// What one point more costs in the middle of a grid: bytes are a polynomial of degree 1 in each extent,
/// whose highest coefficient is left of the grids between `small` and twice it. Halos are in the others.
std::map<std::string, Traffic> per_point(const ir::CudaProgram& program,
                                         const std::shared_ptr<sim::Program>& kernels,
                                         const std::vector<std::int64_t>& small) {
  std::map<std::string, Traffic> sum;
  double points = 1;
  for (const std::int64_t n : small) points *= static_cast<double>(n);
  for (unsigned corner = 0; corner < 1U << small.size(); ++corner) {
    std::vector<std::int64_t> shape = small;
    double sign = 1;
    for (std::size_t a = 0; a < shape.size(); ++a) {
      if ((corner >> a & 1U) != 0)
        shape[a] *= 2;
      else
        sign = -sign;
    }
    for (const auto& [name, traffic] : one_step(program, kernels, layered(shape, 0))) {
      sum[name].dram += sign * traffic.dram / points;
      sum[name].l2 += sign * traffic.l2 / points;
    }
  }
  return sum;
}

void check_traffic(const EquationDefinition& equation, int dims, int sm) {
  const ir::CudaProgram program = cuda_program(equation, dims, 8, {sm, 4, 32});
  const auto kernels = sim_program(program, emit::Real::float32);
  const auto counted =
      per_point(program, kernels,
                dims == 2 ? std::vector<std::int64_t>{32, 64} : std::vector<std::int64_t>{16, 16, 32});
  for (const ir::CudaKernel& kernel : program.kernels) {
    if (kernel.strip_axis >= 0) continue;
    const Traffic& found = counted.at(kernel.name);
    fmt::print("{} sm_{}: DRAM {:.2f} predicted {:.2f}; L2 {:.2f} predicted {:.2f}\n", kernel.name, sm,
               found.dram, kernel.figures.dram_bytes, found.l2, kernel.figures.l2_bytes);
  }
}

}  // namespace

TEST_CASE("sectors") {
  ONDULA_NEEDS_CLANG();
  for (const auto& equation : {equations::acoustic(), equations::acoustic_density(), equations::elastic()})
    for (int dims = 2; dims <= 3; ++dims)
      for (int sm : {80, 90})
        if (dims == 3 || sm == 80) check_traffic(equation, dims, sm);
}

}  // namespace ondula::test
