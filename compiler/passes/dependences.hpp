// dependences: which updates may share a sweep over the grid, and in which order; races are refused here.
// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "compiler/ir/program.hpp"

namespace ondula::passes {

/// An update that runs `cells` ahead of its sweep along an outer axis, so that what a later update reads that
/// far ahead is complete.
struct Lead {
  int axis = -1;  ///< -1: it keeps step
  int cells = 0;
  friend bool operator==(const Lead&, const Lead&) = default;
};

/// One sweep: indices into program.operations, all updates, in order; each with its lead. `groups` says which
/// of them are done in one piece: see fuse, which fills it.
struct Sweep {
  std::vector<int> updates;
  std::vector<Lead> leads;
  std::vector<std::vector<int>> groups;
  /// Of the update with that index; throws InternalError if it is not in the sweep.
  const Lead& lead(int index) const;
};

/// The step as sweeps and other operations, in order: exactly one of the two is set.
struct SweepOrOperation {
  Sweep sweep;
  int operation = -1;
};

/// Who finishes what before a later update of the same sweep begins: a row (hosts run piece after piece on
/// it) or each point by itself (GPU threads, in any order).
enum class Concurrency { rows, points };

/// Groups updates between injections, halos and samples into as few sweeps as their dependences allow, each
/// as late as possible, so that a correction runs right after the row it corrects. A row is completed by one
/// piece before the next begins: a later piece may read what an earlier one wrote in the same row at any x,
/// but not in other rows; with `points` it may read it at its own point only. Throws UserError with the
/// author's line where an update reads a neighbour of what it writes in place, or a first-order field as it
/// was before an earlier update of the same step (InternalError where the update is ours).
///
/// With `lookahead`, a memory variable that a later update reads along its own outer axis alone does not cost
/// a sweep of its own: it runs ahead in the same one, while the field it reads is in cache.
std::vector<SweepOrOperation> dependences(const ir::Program& expanded, bool lookahead = false,
                                          Concurrency concurrency = Concurrency::rows);

}  // namespace ondula::passes
