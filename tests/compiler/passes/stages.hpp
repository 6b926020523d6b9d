// Programs at each stage of the pipeline, for the tests of the passes that follow it.
// SPDX-License-Identifier: MIT
#pragma once

#include <doctest/doctest.h>

#include "compiler/dsl/dsl.hpp"
#include "compiler/passes/absorb.hpp"
#include "compiler/passes/check.hpp"
#include "compiler/passes/discretize_time.hpp"
#include "compiler/passes/surface.hpp"
#include "equations/equations.hpp"

namespace ondula::test {

inline ir::Program absorbed_program(const EquationDefinition& equation, int dims, int order,
                                    bool stretched = false) {
  const ir::Equation checked = passes::check(equation.instantiate(default_axes(dims)));
  return passes::absorb(passes::surface(passes::discretize_time(checked, order)), stretched);
}

/// Every built-in equation in 1-D to 3-D at orders 2 and 8, and with kappa where nothing is nested.
template <class F>
void for_each_program(const F& f) {
  for (const EquationDefinition& equation : equations::all()) {
    for (int dims = 1; dims <= 3; ++dims) {
      for (const int order : {2, 8}) {
        for (const bool stretched : {false, true}) {
          if (stretched && equation.name() == "acoustic_density") continue;
          CAPTURE(equation.name());
          CAPTURE(dims);
          CAPTURE(order);
          CAPTURE(stretched);
          f(absorbed_program(equation, dims, order, stretched));
        }
      }
    }
  }
}

}  // namespace ondula::test
