// hoist: what does not depend on time is computed once, per run (scalars) or per model (coefficient arrays).
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/ir/program.hpp"

namespace ondula::passes {

/// Scalar factors of symbols become run-time Scalars w0, w1, ... (never negative in their leading constant,
/// so that taps of opposite sign share one); pointwise expressions of the parameters become Coefficients c0,
/// c1, ..., a nodal coefficient together with its scalar. An average off the node reads the hoisted
/// reciprocal at the nodes around, its scale folded into the numerator:
///   dt*mean[1/2](1/rho)  ->  w0/(c0 + c0[1]),  w0 = 2*dt,  c0 = rho.
/// A tangent is a Coefficient as it stands, at the points of its own stagger.
/// `given`: scalars and coefficients of another step of the same compilation, which the result begins with
/// and reads where they serve, with the opposite sign too.
ir::Program hoist(const ir::Program& program, const ir::Program* given = nullptr);

}  // namespace ondula::passes
