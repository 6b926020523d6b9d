// fuse: which updates of a sweep are done in one pass over a row.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "compiler/ir/program.hpp"
#include "compiler/passes/dependences.hpp"

namespace ondula::passes {

/// How far updates are gathered into one piece.
enum class Fusion {
  points,     ///< neighbours that cover the very same points only
  loads,      ///< components of one statement with half of their loads in common, and their layers' memory
  statement,  ///< all components of one statement, and their layers' memory
};

/// The two fields live at the same points, whatever the faces: same stagger and rules of surfaces.
bool same_points(const ir::Program& program, const std::string& a, const std::string& b);

/// Fills the groups of every sweep: the updates each piece does, in order. Two updates share a group where
/// they act on the same region, what one writes the other reads at the same point only, and none between
/// them in the order must stay between. Components of one statement join although their points differ by half
/// a cell, and the memory variables of an axis join the corrections that use them. No value changes: each
/// update keeps its operations, and their order at every point. With `loads`, components join where one pass
/// over a row loads once what each would load: the normal stresses of elastic, which read the same three
/// derivatives. Velocities and shear stresses read common arrays at different places; joined on a host, their
/// rows drop out of the first-level cache before the next row wants them (elastic 3-D, order 8, in cache:
/// 0.099 Gpoints/s and core with all of a statement in one pass, 0.176 by this rule, 0.134 apart). With
/// `statement` all join: for devices that have no such cache to lose.
std::vector<SweepOrOperation> fuse(const ir::Program& program, std::vector<SweepOrOperation> step,
                                   Fusion fusion);

}  // namespace ondula::passes
