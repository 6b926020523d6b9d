// Adjoints of the values within a step, as expressions of the adjoint program's fields.
// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "compiler/passes/adjoint_variables.hpp"

namespace ondula::passes {

/// sign * value, on the strips of `axis` (and as far beside them as its derivatives reach), or everywhere
/// (-1).
struct Part {
  int axis = -1;
  int sign = 1;
  ir::Expr value;
};

/// Builds cotangents for `program`, the adjoint under construction, whose fields of states exist already.
/// What they are made of may stand in fields of their own, products and strips, which are no state of the
/// step: whoever puts a cotangent into an update calls `require` first.
class Cotangents {
 public:
  Cotangents(const ir::Program& physical, const std::vector<Use>& uses, const AdjointVariables& variables,
             ir::Program& program);

  /// Of a field at a level, or of a derivative: its coefficient * adjoint summed over all its uses but those
  /// by the field itself. A question: it changes nothing of the program.
  std::vector<Part> of(ir::Expr atom);
  /// What a derivative's operand gains from its cotangent: the transposed derivative.
  Part transposed(ir::Expr derivative, Part part);
  /// The updates of what `value` reads of products and strips that the step has not computed yet, in order.
  /// They read states as they are now: the step must have brought those that are early up to date, and have
  /// left the others as it found them.
  std::vector<ir::Operation> require(ir::Expr value);
  /// The states that `value` reads, through products and strips too, by forward field and level.
  std::set<std::pair<std::string, int>> states_in(ir::Expr value) const;
  /// sign * state, at the level that is complete when the step back reaches the field's updates.
  Part state(const std::string& field) const;
  /// A reader wants the field's new value within the same step: its adjoint is updated before it is used.
  bool early(const std::string& field) const { return early_.contains(field); }
  /// True if another field's update reads it, at any level.
  bool is_read(const std::string& field) const { return read_.contains(field); }

 private:
  /// What a product or a strip's field holds.
  struct Definition {
    ir::Field field;  ///< that of a strip, which the program gets when it is first required
    ir::Update update;
  };

  Part represented(const Cotangent& cotangent);
  ir::Expr product(const Cotangent& cotangent, const Represented& represented);
  ir::Expr plain(ir::Expr value, int axis, const ir::HalfCells& stagger);
  void require(ir::Expr value, std::vector<ir::Operation>& into);
  void states_in(ir::Expr value, std::set<std::pair<std::string, int>>& into) const;
  ir::HalfCells stagger_of(ir::Expr value) const;

  const ir::Program& physical_;
  const std::vector<Use>& uses_;
  const AdjointVariables& variables_;
  ir::Program& program_;
  ir::Pool& pool_;
  std::set<std::string> early_, read_;
  std::map<std::string, Definition> definitions_;  // of products and strips, by their fields' names
  std::map<std::uint32_t, std::string> strips_;    // by the value's id
  std::set<std::string> computed_;                 // by updates that `require` has given
};

/// How many cells along `axis` a value reads from its point.
int reach(ir::Expr e, int axis, int radius);

}  // namespace ondula::passes
