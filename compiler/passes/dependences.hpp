// dependences: which updates may share a sweep over the grid, and in which order; races are refused here.
// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "compiler/ir/program.hpp"

namespace ondula::passes {

/// One sweep: indices into program.operations, all updates, in order. `last` is the operation they must
/// precede. `groups` says which of them are done in one piece: see fuse, which fills it.
struct Sweep {
  std::vector<int> updates;
  std::vector<std::vector<int>> groups;
};

/// The step as sweeps and other operations, in order: exactly one of the two is set.
struct SweepOrOperation {
  Sweep sweep;
  int operation = -1;
};

/// Groups updates between injections, halos and samples into as few sweeps as their dependences allow, each
/// as late as possible, so that a correction runs right after the row it corrects. A row is completed by one
/// piece before the next begins: a later piece may read what an earlier one wrote in the same row at any x,
/// but not in other rows. Throws UserError with the author's line where an update reads a neighbour of what
/// it writes in place, or a first-order field as it was before an earlier update of the same step
/// (InternalError where the update is ours).
std::vector<SweepOrOperation> dependences(const ir::Program& expanded);

}  // namespace ondula::passes
