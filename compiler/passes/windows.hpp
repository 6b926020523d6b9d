// windows: memory variables of the innermost axis are computed inside the rows that read them.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/ir/kernel.hpp"

namespace ondula::passes {

/// A memory variable of the innermost axis that one update alone reads, along its own row, needs no pass of
/// its own: its piece is marked to run a vector ahead within the rows of the fused and correction pieces of
/// that update (Piece::within), which take its neighbours from registers. What such a piece uses becomes
/// theirs. Values do not change. For rows that a vector loop goes through in order: the host's.
ir::KernelSet windows(ir::KernelSet set);

}  // namespace ondula::passes
