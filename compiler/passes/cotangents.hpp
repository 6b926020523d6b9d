// Adjoints of the values within a step, as expressions of the adjoint program's fields.
// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <set>
#include <string>
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

/// Builds cotangents; fields and updates they need are added to `program`, the adjoint under construction,
/// whose fields of states exist already.
class Cotangents {
 public:
  Cotangents(const ir::Program& physical, const std::vector<Use>& uses, const AdjointVariables& variables,
             ir::Program& program);

  /// Of a field at a level, or of a derivative: its coefficient * adjoint summed over all its uses but those
  /// by the field itself.
  std::vector<Part> of(ir::Expr atom);
  /// What a derivative's operand gains from its cotangent: the transposed derivative.
  Part transposed(ir::Expr derivative, Part part);
  /// sign * state, at the level that is complete when the step back reaches the field's updates.
  Part state(const std::string& field) const;
  /// A cotangent's field.
  Part represented(const Cotangent& cotangent);
  /// A reader wants the field's new value within the same step: its adjoint is updated before it is used.
  bool early(const std::string& field) const { return early_.contains(field); }
  /// True if another field's update reads it, at any level.
  bool is_read(const std::string& field) const { return read_.contains(field); }

  /// Updates that must come before what was asked for since the last call, in order.
  std::vector<ir::Operation> take_pending();

 private:
  ir::Expr plain(ir::Expr value, int axis, const ir::HalfCells& stagger);
  ir::HalfCells stagger_of(ir::Expr value) const;

  const ir::Program& physical_;
  const std::vector<Use>& uses_;
  const AdjointVariables& variables_;
  ir::Program& program_;
  ir::Pool& pool_;
  std::set<std::string> early_, read_;
  std::map<std::uint32_t, std::string> strips_;  // materialised on strips, by the value's id
  std::set<std::string> computed_;               // products that are up to date
  std::vector<ir::Operation> pending_;
};

/// How many cells along `axis` a value reads from its point.
int reach(ir::Expr e, int axis, int radius);

}  // namespace ondula::passes
