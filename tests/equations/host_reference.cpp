// Every built-in equation: compiled kernels against the reference.
// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <algorithm>

#include "compiler/error.hpp"
#include "equations/equations.hpp"
#include "tests/equations/engines.hpp"
#include "tests/runtime/jit/support.hpp"
#include "tests/support/compare.hpp"

namespace ondula::test {
namespace {

/// Wide enough that rows of the middle take the fused variants, and layers on every face.
std::vector<std::int64_t> shape_of(int dims) {
  if (dims == 1) return {60};
  return dims == 2 ? std::vector<std::int64_t>{19, 45} : std::vector<std::int64_t>{6, 7, 32};
}

EngineCase acoustic_density_case(int dims, int order) {
  EngineCase c = density_case(layered(shape_of(dims), 6), order);
  c.steps = 200;
  return c;
}

EngineCase solid_case(int dims, int order) {
  EngineCase c = elastic_case(layered(shape_of(dims), 6), order);
  c.steps = 200;
  c.dt = 8e-4;
  return c;
}

/// The largest errors of all cases of one test, for its message.
struct Worst {
  double float64 = 0, float32 = 0;
};

void check(const EquationDefinition& equation, EngineCase c, Worst& worst) {
  CAPTURE(equation.name());
  CAPTURE(c.domain.dims);
  CAPTURE(c.order);
  const double error64 = host_error(equation, c);
  CHECK(error64 < 1e-13);
  c.dtype = DType::float32;
  const double error32 = host_error(equation, c);
  CHECK(error32 < 2e-5);
  worst = {std::max(worst.float64, error64), std::max(worst.float32, error32)};
}

}  // namespace

TEST_CASE("host equals the reference: variable density in layers, 1-D to 3-D") {
  ONDULA_NEEDS_CLANG();
  Worst worst;
  for (int dims = 1; dims <= 3; ++dims) {
    for (const int order : dims == 3 ? std::vector{4} : std::vector{2, 8})
      check(equations::acoustic_density(), acoustic_density_case(dims, order), worst);
  }
  MESSAGE("host - reference at most ", worst.float64, " in float64, ", worst.float32, " in float32");
}

TEST_CASE(
    "host equals the reference: a strip grown to whole vectors ends with the row of nodes, not of half "
    "cells") {
  ONDULA_NEEDS_CLANG();
  Worst worst;
  for (const FaceKind face : {FaceKind::free_surface, FaceKind::rigid}) {
    ir::Domain domain = layered({12, 11}, 5);
    domain.faces[1][1] = face;
    domain.pad[1][1] = 0;
    check(equations::acoustic_density(), density_case(domain, 8), worst);
  }
}

TEST_CASE("host equals the reference: elastic in layers, 1-D to 3-D, fluid cells among solid ones") {
  ONDULA_NEEDS_CLANG();
  Worst worst;
  for (int dims = 1; dims <= 3; ++dims) check(equations::elastic(), solid_case(dims, 4), worst);
  check(equations::elastic(), solid_case(2, 8), worst);
  MESSAGE("host - reference at most ", worst.float64, " in float64, ", worst.float32, " in float32");
}

TEST_CASE("host equals the reference: elastic in layers stretched by kappa = 2") {
  ONDULA_NEEDS_CLANG();
  Worst worst;
  EngineCase c = solid_case(2, 4);
  c.stretched = true;
  check(equations::elastic(), c, worst);
  MESSAGE("host - reference at most ", worst.float64, " in float64, ", worst.float32, " in float32");
}

TEST_CASE("host equals the reference: all equations at every kind of face, from noise, 1-D to 3-D") {
  ONDULA_NEEDS_CLANG();
  using enum FaceKind;
  Worst worst;
  const int plane_orders[] = {2, 8, 16};
  int turn = 0;
  for (const auto& faces : {std::array{free_surface, absorbing},
                            {absorbing, free_surface},
                            {free_surface, free_surface},
                            {rigid, free_surface},
                            {rigid, rigid},
                            {periodic, periodic},
                            {antisymmetric, antisymmetric}}) {
    for (int dims = 1; dims <= 3; ++dims) {
      CAPTURE(static_cast<int>(faces[0]));
      CAPTURE(static_cast<int>(faces[1]));
      const int order = dims == 2 ? plane_orders[turn++ % 3] : 4;
      for (const EquationDefinition& equation : equations::all()) {
        EngineCase c =
            equation.name() == "elastic" ? solid_case(dims, order) : acoustic_density_case(dims, order);
        if (equation.name() == "acoustic") c.models.erase("rho");
        c.noise = true;
        check(equation, with_faces(c, faces), worst);
      }
    }
  }
  MESSAGE("host - reference at most ", worst.float64, " in float64, ", worst.float32, " in float32");
}

TEST_CASE("a layer with kappa around nested derivatives is refused in words") {
  EngineCase c = acoustic_density_case(2, 8);
  c.stretched = true;
  CHECK_THROWS_AS(compiled(equations::acoustic_density(), c), UserError);
}

TEST_CASE("host: every equation gives the same bits on one thread and two, and again") {
  ONDULA_NEEDS_CLANG();
  const auto check_bits = [](const EquationDefinition& equation, EngineCase c) {
    c.dtype = DType::float32;
    c.noise = true;
    const auto once = host_fields(equation, c, 1);
    CHECK(max_abs(once.begin()->second) > 0);
    CHECK(once == host_fields(equation, c, 2));
    CHECK(once == host_fields(equation, c, 2));
  };
  using enum FaceKind;
  check_bits(equations::elastic(), solid_case(2, 8));
  check_bits(equations::elastic(), with_faces(solid_case(3, 4), {free_surface, absorbing}));
  check_bits(equations::acoustic_density(), with_faces(acoustic_density_case(3, 4), {rigid, free_surface}));
}

}  // namespace ondula::test
