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

/// A few steps in single precision.
EngineCase brief(EngineCase c) {
  c.steps = 12;
  c.dtype = DType::float32;
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
                                    .target = passes::Target::cuda});
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

// Fields and parameters named as the text names its own things, and the same equation with neutral names.
#define PAIR(NAME, C, F, G)                                 \
  EQUATION(NAME, "two coupled waves") {                     \
    auto c = parameter(C, "m/s", positive);                 \
    auto f = scalar(F, "Pa"), g = scalar(G, "Pa");          \
    evolve(dtt(f) = sq(c) * (laplacian(f) + source(f)));    \
    evolve(dtt(g) = sq(c) * (laplacian(g) + laplacian(f))); \
  }

PAIR(neutral, "speed", "p", "q")
PAIR(own_names, "planes", "i0", "q0")
PAIR(own_heads, "begin_z", "new_q", "j_q")
PAIR(own_words, "high", "side", "within")
PAIR(own_bounds, "close_z_lo", "live_z0", "strip_z_lo_begin")
PAIR(builtins, "blockIdx", "threadIdx", "gridDim")

TEST_CASE("cuda text = host, bitwise: acoustic in layers, 1-D to 3-D, plain and marching") {
  ONDULA_NEEDS_CLANG();
  for (int dims = 1; dims <= 3; ++dims)
    check_bits(equations::acoustic(), brief(acoustic_case(layered_domain(dims), 8)));
}

TEST_CASE("cuda text = host, bitwise: variable density in layers, 1-D to 3-D, plain and marching") {
  ONDULA_NEEDS_CLANG();
  for (int dims = 1; dims <= 3; ++dims)
    check_bits(equations::acoustic_density(), brief(density_case(layered_domain(dims), 4)));
}

TEST_CASE("cuda text = host, bitwise: elastic in layers, 1-D to 3-D, plain and marching") {
  ONDULA_NEEDS_CLANG();
  for (int dims = 1; dims <= 3; ++dims)
    check_bits(equations::elastic(), brief(elastic_case(layered_domain(dims), 4)));
}

TEST_CASE("A9: cuda text, the order of blocks and threads, folded axes and 64-bit indices change no bit") {
  ONDULA_NEEDS_CLANG();
  const EngineCase c = brief(acoustic_case(layered({11, 70, 34}, 5), 8));
  const auto expected = host_fields(equations::acoustic(), c);
  for (const int sm : {80, 90}) {
    CAPTURE(sm);
    CHECK((cuda_fields(equations::acoustic(), c, sm, {.backwards = true}) == expected));
    CHECK(
        (cuda_fields(equations::acoustic(), c, sm, {.most_blocks = 1, .multiprocessors = 500}) == expected));
    CHECK((cuda_fields(equations::acoustic(), c, sm, {}, 64) == expected));
  }
}

TEST_CASE("cuda text = host, bitwise: every kind of face, narrow grids where layers meet, kappa, float64") {
  ONDULA_NEEDS_CLANG();
  using enum FaceKind;
  for (const auto& faces : {std::array{free_surface, absorbing},
                            {absorbing, free_surface},
                            {rigid, rigid},
                            {periodic, periodic},
                            {antisymmetric, antisymmetric}}) {
    CAPTURE(static_cast<int>(faces[0]));
    CAPTURE(static_cast<int>(faces[1]));
    check_bits(equations::acoustic(), brief(with_faces(acoustic_case(layered_domain(2), 4), faces)));
    check_bits(equations::elastic(), brief(with_faces(elastic_case(layered_domain(3), 4), faces)));
  }
  check_bits(equations::acoustic(), brief(acoustic_case(layered({5, 6}, 4), 8)));
  check_bits(equations::acoustic_density(), brief(density_case(layered({6, 5}, 3), 8)));
  check_bits(equations::acoustic(), brief(acoustic_case(layered({3, 4}, 6), 12)));
  check_bits(equations::elastic(), brief(elastic_case(layered({3, 4}, 6), 12)));
  EngineCase stretched = brief(acoustic_case(layered_domain(2), 4));
  stretched.stretched = true;
  check_bits(equations::acoustic(), stretched);
  EngineCase wide = brief(elastic_case(layered_domain(3), 4));
  wide.dtype = DType::float64;
  check_bits(equations::elastic(), wide);
}

TEST_CASE(
    "B5: cuda text = host, bitwise: 600,000 x 8 and 8 x 600,000 points, more rows than a launch has blocks") {
  ONDULA_NEEDS_CLANG();
  for (const std::vector<std::int64_t>& shape : {std::vector<std::int64_t>{600'000, 8}, {8, 600'000}}) {
    EngineCase c;
    c.domain = layered(shape, 0);
    c.order = 2;
    c.steps = 3;
    c.dtype = DType::float32;
    c.models["vp"] = {2000};
    c.sources["u"] = 1;
    CHECK((cuda_fields(equations::acoustic(), c, 80) == host_fields(equations::acoustic(), c)));
  }
}

TEST_CASE("F1, F2: names that CUDA text uses itself give the numbers of neutral ones") {
  ONDULA_NEEDS_CLANG();
  const auto values = [](const EquationDefinition& equation, const char* speed, const char* f,
                         const char* g) {
    EngineCase c = brief(acoustic_case(layered({15, 20}, 5), 4));
    c.models = {{speed, c.models.at("vp")}};
    c.sources = {{f, 1}};
    const auto fields = cuda_fields(equation, c, 80);
    return std::vector{fields.at(f), fields.at(g)};
  };
  const auto expected = values(neutral(), "speed", "p", "q");
  CHECK((values(own_names(), "planes", "i0", "q0") == expected));
  CHECK((values(own_heads(), "begin_z", "new_q", "j_q") == expected));
  CHECK((values(own_words(), "high", "side", "within") == expected));
  CHECK((values(own_bounds(), "close_z_lo", "live_z0", "strip_z_lo_begin") == expected));
  CHECK((values(builtins(), "blockIdx", "threadIdx", "gridDim") == expected));
}

}  // namespace ondula::test
