// Harmonic sums: denominators whose terms divide by what may be 0.
// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "compiler/ir/expr.hpp"

namespace ondula::ir {

/// c/e with c free of parameters.
struct Ratio {
  std::vector<Expr> above;  ///< factors of c
  Expr below;               ///< e, null for 1
};

/// Free of parameters.
bool is_steady(Expr e);

/// The terms of a denominator that is a sum of ratios; empty for any other, and where no term divides. On its
/// own 1/e would be infinite where e = 0, and the derivative lost.
std::vector<Ratio> ratios_of(Expr denominator);

}  // namespace ondula::ir
