// differentiate: the exact discrete adjoint of a step, for any linear equation.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/ir/adjoint.hpp"

namespace ondula::passes {

/// Transposes the step of `physical` (as it is after `absorb`): every update at the level of its derivatives,
/// D^T = -D of the opposite stagger, in reverse order; in gather form, so that no update scatters. Samples
/// become injections (source: the sampled field), injections become samples, coefficients become accumulators
/// (numerics.md, Gradient). The adjoint's variables are dJ/dfield over the weights H of its nodes (1/2 on the
/// rows of faces about which a field on nodes is even), hence images are those of the forward fields, and may
/// carry the coefficient they are used with, so that the adjoint step has the forward's form. `unscaled`:
/// only where that coefficient is positive, so that adjoints can be had back in media where it vanishes.
/// `fields_only`: no forward sum is kept, as where fields are rebuilt.
/// Throws UserError for what is not linear, or not yet derived.
ir::Adjoint differentiate(const ir::Program& physical, bool unscaled = false, bool fields_only = false);

}  // namespace ondula::passes
