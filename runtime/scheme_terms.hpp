// The right sides of an equation as scheme.cpp and damping.cpp read them: internal to both.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "runtime/scheme.hpp"

namespace ondula {

/// One right side, sorted by what a step does with its terms.
struct RightSide {
  const ir::Field* field = nullptr;
  std::vector<Term> across;     ///< of fields of the other stage, or, of second order, the spatial operator
  std::vector<ir::Expr> own;    ///< coefficients of the field itself, taken half at either side of a step
  std::vector<ir::Expr> rates;  ///< coefficients of its own rate, of a second-order field
  std::vector<ir::Expr> bare;   ///< coefficients of the field itself that are part of the operator
  std::vector<std::pair<std::string, ir::Expr>> means;  ///< of other fields at the same time
  bool read = false;                                    ///< a right side of the other stage holds it
  bool memory = false;                                  ///< one of its own stage holds it, none of the other
};

/// Refuses an equation of a form whose limit is not known.
[[noreturn]] void unknown_limit(const ir::Program& program, const std::string& field, const std::string& why);

/// What must hold for the damping and the memory of `sides` to lose energy. Throws UserError where no such
/// conditions are known.
std::vector<Condition> damping_conditions(const ir::Program& program, const std::vector<RightSide>& sides);

}  // namespace ondula
