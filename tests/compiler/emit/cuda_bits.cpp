// The CUDA text, executed thread by thread on the CPU, leaves the bits of the compiled host kernels.
// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <algorithm>

#include "compiler/passes/cuda_schedule.hpp"
#include "equations/equations.hpp"
#include "tests/compiler/emit/cuda_on_host.hpp"
#include "tests/equations/engines.hpp"
#include "tests/runtime/jit/support.hpp"

namespace ondula::test {
namespace {

EngineCase acoustic_case(const ir::Domain& domain, int order) {
  EngineCase c;
  c.domain = domain;
  c.order = order;
  c.steps = 12;
  c.dtype = DType::float32;
  c.models["vp"] = scattered(c.domain, 1500, 3000, 1);
  c.sources["u"] = 1;
  return c;
}

EngineCase density_case(const ir::Domain& domain, int order) {
  EngineCase c = acoustic_case(domain, order);
  c.models["rho"] = scattered(c.domain, 1000, 2500, 2);
  return c;
}

EngineCase elastic_case(const ir::Domain& domain, int order) {
  EngineCase c = density_case(domain, order);
  c.models["vp"] = scattered(c.domain, 2500, 3000, 1);
  c.models["vs"] = scattered(c.domain, -500, 1500, 2);
  for (double& vs : c.models["vs"]) vs = std::max(vs, 0.0);
  c.sources = {{"v.z", 1e-6}, {"s.zz", 1}};
  return c;
}

ir::Domain layered_domain(int dims) {
  if (dims == 1) return layered({60}, 6);
  return dims == 2 ? layered({21, 70}, 6) : layered({11, 13, 40}, 5);
}

ir::CudaProgram scheduled(const passes::Compilation& compilation, const EngineCase& c, int sm,
                          int index_bits = 32) {
  return passes::cuda_schedule(compilation.kernels, {sm, c.dtype == DType::float32 ? 4 : 8, index_bits});
}

passes::Compilation for_threads(const EquationDefinition& equation, const EngineCase& c) {
  return passes::compile(equation, {.axes = default_axes(c.domain.dims),
                                    .order = c.order,
                                    .stretched = c.stretched,
                                    .concurrency = passes::Concurrency::points});
}

std::map<std::string, std::vector<double>> cuda_fields(const EquationDefinition& equation,
                                                       const EngineCase& c, int sm,
                                                       const Execution& execution = {}, int index_bits = 32) {
  const passes::Compilation compilation = for_threads(equation, c);
  const emit::Real real = c.dtype == DType::float32 ? emit::Real::float32 : emit::Real::float64;
  const std::string text = cuda_on_host(scheduled(compilation, c, sm, index_bits), real, c.domain, execution);
  return text_fields(compilation, c, text, {"-O1"});
}

void check_bits(const EquationDefinition& equation, const EngineCase& c) {
  CAPTURE(equation.name());
  CAPTURE(c.domain.dims);
  CAPTURE(c.order);
  const auto expected = host_fields(equation, c);
  for (const auto& [name, values] : expected) {
    CAPTURE(name);
    CHECK(std::any_of(values.begin(), values.end(), [](double v) { return v != 0; }));
  }
  CHECK((cuda_fields(equation, c, 80) == expected));
  if (c.domain.dims == 3) CHECK((cuda_fields(equation, c, 90) == expected));
}

}  // namespace

TEST_CASE("cuda text = host, bitwise: acoustic in layers, 1-D to 3-D, plain and marching") {
  ONDULA_NEEDS_CLANG();
  for (int dims = 1; dims <= 3; ++dims)
    check_bits(equations::acoustic(), acoustic_case(layered_domain(dims), 8));
}

TEST_CASE("cuda text = host, bitwise: variable density in layers, 1-D to 3-D, plain and marching") {
  ONDULA_NEEDS_CLANG();
  for (int dims = 1; dims <= 3; ++dims)
    check_bits(equations::acoustic_density(), density_case(layered_domain(dims), 4));
}

TEST_CASE("cuda text = host, bitwise: elastic in layers, 1-D to 3-D, plain and marching") {
  ONDULA_NEEDS_CLANG();
  for (int dims = 1; dims <= 3; ++dims)
    check_bits(equations::elastic(), elastic_case(layered_domain(dims), 4));
}

}  // namespace ondula::test
