// What an update reads and writes, and what that demands of two updates: shared by dependences and fuse.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "compiler/ir/program.hpp"

namespace ondula::passes {

/// The furthest kind of neighbour an update reads of an array.
enum class Reach { none, point, row, neighbour };

/// How an update touches one stored array.
struct Touch {
  Reach read = Reach::none;
  bool written = false;
  std::array<int, ir::max_axes> half_cells{};  ///< the furthest it reads along each axis, either way
};

/// The arrays of one update (a second-order field is stored in two: its levels), after expand or hoist.
class Footprint {
 public:
  /// Throws UserError with the author's line where the update reads a neighbour of what it writes in place
  /// (InternalError where the update is ours).
  Footprint(const ir::Program& program, const ir::Update& update);
  const std::map<std::string, Touch>& touches() const { return touches_; }
  /// Every array entry it reads: array and position, in half cells from the cell's node.
  const std::set<std::pair<std::string, ir::HalfCells>>& loads() const { return loads_; }
  /// Refuses to read a value of this step's beginning that `earlier` has overwritten: a first-order field has
  /// one level only.
  void require_not_overwritten(const ir::Update& earlier) const;

 private:
  [[noreturn]] void refuse(const std::string& what) const;
  void walk(ir::Expr e);

  const ir::Program& program_;
  const ir::Update& update_;
  std::map<std::string, Touch> touches_;
  std::set<std::pair<std::string, ir::HalfCells>> loads_;
  std::set<std::string> old_;  // fields read at a level before the step's new one
  std::set<std::uint32_t> seen_;
};

/// What `later` demands of `earlier`: nothing, order at each point, order within a row, or a sweep of its
/// own.
enum class Coupling { free, pointwise, row, apart };
Coupling coupling(const Footprint& earlier, const Footprint& later);

}  // namespace ondula::passes
