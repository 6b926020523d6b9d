// rings: how much of which fields must be kept beside the layers for the interior to be rebuilt.
// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <string>

#include "compiler/ir/program.hpp"

namespace ondula::passes {

/// Of one rebuilt field.
struct RingDepths {
  bool kept = false;   ///< from `outer` to `inner` it is kept, else it is not needed there
  ir::Depths outer{};  ///< nothing reads it further out
  ir::Depths inner{};  ///< from here on it is rebuilt
};

/// `back` is a step back with rebuilt fields (those named `rebuilt_name` of a forward field), whose sums are
/// wanted in the interior, or, where it has no sums, the fields themselves; `physical` the forward step,
/// whose layers' memory reaches so far inwards. The least bytes per face, by trying all choices of groups of
/// fields that keep a ring (numerics.md, Boundary saving): a field can be rebuilt from the depth on at which
/// its reversed update reads nothing that is not at hand. Throws UserError where no choice serves.
std::map<std::string, RingDepths> rings(const ir::Program& physical, const ir::Program& back);

}  // namespace ondula::passes
