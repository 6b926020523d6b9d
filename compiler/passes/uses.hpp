// Every place where a step uses a field or a derivative, as coefficient times atom: what transposition needs.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "compiler/ir/program.hpp"

namespace ondula::passes {

/// profiles * coefficient * atom, a term of an update or of a derivative's operand. Atoms are fields and
/// derivatives.
struct Use {
  std::size_t operation = 0;  ///< of the update; 0 where `parent` is set
  std::string target;         ///< the field updated; empty where `parent` is set
  int axis = -1;              ///< of the strips the update acts on; -1: wherever the target lives
  std::vector<ir::Expr> profiles;
  ir::Expr coefficient;
  ir::Expr atom;
  ir::Expr parent;    ///< the derivative whose operand this is a term of
  bool self = false;  ///< the target's own older level, at the same point
};

/// Of a program as it is after `absorb`. Updates of aprons repeat their strip's and are left out. Throws
/// UserError where a term is not linear.
std::vector<Use> uses(const ir::Program& physical);

}  // namespace ondula::passes
