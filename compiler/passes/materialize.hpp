// materialize: which coefficient arrays exist, and which values kernels compute from others, by bytes moved.
// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "compiler/ir/program.hpp"
#include "compiler/passes/dependences.hpp"

namespace ondula::passes {

/// Drops the coefficient arrays that a kernel computes from one it reads anyway: where a coefficient is a
/// scalar times another, or a scalar over it, and some sweep reads both, it becomes that product or quotient:
///   c2 = 2*dt*mu, c3 = 1/mu   ->   2*dt/c3, exactly 0 where mu is 0.
/// Every sweep that reads both then moves one array less, and none moves more. Of such a pair the one read at
/// more places stays, else the first.
/// Averages off the node stay in the kernel (see hoist): one array of node values serves all staggered
/// positions, where hoisted averages would take one for each, so that they never move fewer bytes.
ir::Program materialize(const ir::Program& hoisted, const std::vector<SweepOrOperation>& step);

}  // namespace ondula::passes
