// lower: a hoisted Program and its sweeps become Kernels: arrays, pieces, lets and stores.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/ir/kernel.hpp"
#include "compiler/passes/dependences.hpp"

namespace ondula::passes {

/// The updates of a group (see fuse) share a piece, and what one has just stored another uses as a value;
/// strips and aprons become one piece for each side. Offsets become array cells; values become binary trees
/// (see factor.hpp), shared or long subtrees lets. Kernel names are
/// EQUATION_DIMSd_oORDER_DIRECTION_sweepK. Throws UserError with the author's line for layers around
/// derivatives nested along two axes.
ir::KernelSet lower(const ir::Program& hoisted, const std::vector<SweepOrOperation>& step);

}  // namespace ondula::passes
