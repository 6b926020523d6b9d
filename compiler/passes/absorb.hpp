// absorb: CPML in the strips of every axis, as memory variables and corrections added to the plain update.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/ir/program.hpp"

namespace ondula::passes {

/// Adds the convolutional layer of numerics.md, Faces. For a first derivative (Komatitsch & Martin 2007)
///   m' = a m + b Df on the strip;   every use of Df gains m'.
/// For a second derivative (Pasalic & McGarry 2010)
///   psi' = a psi + b D1 u;   p = D2 u + D1 psi';   zeta' = a zeta + b p;   every use gains D1 psi' + zeta',
/// D1 psi' on the strip and the apron, the rest on the strip. The plain update stays as it is and runs first;
/// then each axis's corrections accumulate, so that the sequence of additions in a cell does not depend on
/// the region kernels are cut into. With `stretched`, derivatives are also divided by kappa.
ir::Program absorb(const ir::Program& program, bool stretched);

}  // namespace ondula::passes
