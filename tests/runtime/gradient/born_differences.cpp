// Born modelling against differences of forward runs.
// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "tests/runtime/gradient/born.hpp"
#include "tests/runtime/jit/support.hpp"

namespace ondula::test {
namespace {

struct Worst {
  double central = 0;
  double slope = 0;
};

/// On the reference, whose backend needs no compiler.
Setting plainly(Setting c) {
  c.backend = Backend::reference;
  return c;
}

void check(const Setting& c, Worst& worst, const State& start = {}) {
  CAPTURE(text(c));
  const BornDifferences found = born_differences(c, start);
  CHECK(found.central < 1e-6);
  CHECK(std::fabs(found.slope - 2) < 0.05);
  worst = {std::max(worst.central, found.central), std::max(worst.slope, std::fabs(found.slope - 2))};
}

}  // namespace

TEST_CASE("Born equals central differences of forward, and what is left falls with slope 2") {
  Worst worst;
  for (const std::string equation : {"acoustic", "acoustic_density", "elastic"}) {
    check(plainly({.equation = equation}), worst);
    // Sources and receivers beside the surface: their weights follow the model where it is elastic.
    check(plainly({.equation = equation, .faces = "flrl"}), worst);
    check(plainly({.equation = equation, .dims = 1, .order = 8, .faces = "fl", .substeps = 3}), worst);
  }
  check(plainly({.equation = "elastic", .faces = "ff", .fluid = true, .middle = true}), worst);
  check(plainly({.equation = "elastic", .dims = 3, .order = 2, .faces = "flflpp"}), worst);
  MESSAGE("central ", worst.central, ", slope 2 +- ", worst.slope);
}

TEST_CASE("Born in a sea under a free surface equals central differences") {
  Worst worst;
  check(plainly({.equation = "elastic", .faces = "fl", .fluid = true}), worst);
  MESSAGE("central ", worst.central, ", slope 2 +- ", worst.slope);
}

TEST_CASE("Born from a state equals central differences of runs from that state") {
  ONDULA_NEEDS_CLANG();
  for (const Backend backend : {Backend::reference, Backend::host}) {
    const Setting c{.equation = "acoustic_density", .faces = "flrl", .backend = backend};
    const BornSetup setup(c);
    Propagator before = setup.propagator();
    before.forward(setup.shots(), 20);
    Worst worst;
    check(c, worst, before.state());
  }
}

}  // namespace ondula::test
