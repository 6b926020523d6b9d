// Born modelling is the transpose of the gradient: dot products on the reference.
// SPDX-License-Identifier: MIT
#include "tests/runtime/gradient/born.hpp"

#include <doctest/doctest.h>

namespace ondula::test {
namespace {

struct Worst {
  double float64 = 0, float32 = 0;
};

void check(Setting c, Worst& worst) {
  c.backend = Backend::reference;
  CAPTURE(text(c));
  const double error = born_dot_error(c);
  CHECK(error < (c.dtype == DType::float64 ? 1e-13 : 1e-5));
  double& own = c.dtype == DType::float64 ? worst.float64 : worst.float32;
  own = std::max(own, error);
}

}  // namespace

TEST_CASE("Born: <Born m, d> = <m, gradient d> for all equations, 1-D to 3-D, orders 2, 4 and 8") {
  Worst worst;
  for (const std::string equation : {"acoustic", "acoustic_density", "elastic"}) {
    for (int dims = 1; dims <= 3; ++dims) {
      for (const int order : {2, 4, 8}) {
        // Layers everywhere, and a free surface, a rigid wall, a layer and a periodic axis together.
        if (dims < 3 || order == 4) check({.equation = equation, .dims = dims, .order = order}, worst);
        if (dims < 3 || order == 8)
          check({.equation = equation, .dims = dims, .order = order, .faces = dims == 3 ? "flrlpp" : "flrl"},
                worst);
      }
    }
  }
  MESSAGE("largest error ", worst.float64, ", float32 ", worst.float32);
}

TEST_CASE("Born: dot products with several free surfaces, fluid parts, substeps and stretched layers") {
  Worst worst;
  for (const std::string equation : {"acoustic", "acoustic_density", "elastic"}) {
    check({.equation = equation, .faces = "ff"}, worst);
    check({.equation = equation, .faces = "lflr", .substeps = 3}, worst);
    check({.equation = equation, .faces = "rrpp"}, worst);
    check({.equation = equation, .faces = "fl", .dtype = DType::float32}, worst);
  }
  for (const bool middle : {false, true}) {
    check({.equation = "elastic", .faces = "flll", .fluid = true, .middle = middle}, worst);
    check({.equation = "elastic", .faces = "fllr", .substeps = 3, .fluid = true, .middle = middle}, worst);
  }
  check({.equation = "elastic", .dims = 3, .order = 2, .faces = "ffllrr", .fluid = true, .middle = true},
        worst);
  check({.equation = "elastic", .faces = "fl", .kappa = 2}, worst);
  check({.equation = "acoustic", .kappa = 2}, worst);
  MESSAGE("largest error ", worst.float64, ", float32 ", worst.float32);
}

}  // namespace ondula::test
