// linearize: the tangent of a step, for any linear equation: Born modelling.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/ir/tangent.hpp"

namespace ondula::passes {

/// Differentiates the step of `physical` (as it is after `absorb`) along a perturbation of its parameters,
/// term by term, under derivatives and in the layers too:
///   u' = c A u   ->   du' = c A du + tangent(c) A u,
/// each right before the update it comes from, so that both read the same levels. Exact for the discrete
/// step (numerics.md, Gradient). Throws UserError for what is not linear in the fields.
ir::Tangent linearize(const ir::Program& physical);

}  // namespace ondula::passes
