// check: staggering parity and linearity of an equation; places every coefficient at the point where it is
// used. SPDX-License-Identifier: MIT
#pragma once

#include "compiler/ir/equation.hpp"

namespace ondula::passes {

/// Verifies that every term lives where its left side does and is linear in the fields, and rewrites each
/// coefficient off its node as the harmonic mean of its nodal values there (numerics.md, Space):
///   v.z: (1/rho) D1(s.zz)  ->  mean[1/2,0](1/rho) D1s(s.zz).
/// Throws UserError naming equation, field and the author's line.
ir::Equation check(const ir::Equation& equation);

}  // namespace ondula::passes
