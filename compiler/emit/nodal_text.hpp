// nodal_text: what is constant in time, as C++ in double: scalars, coefficients, factors of sources.
// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <set>
#include <string>

#include "compiler/ir/expr.hpp"

namespace ondula::emit {

/// How a parameter is spelled at the node so many cells further along each axis.
using ParameterPrinter = std::function<std::string(const std::string& name, const ir::HalfCells& cells)>;

/// `e` as a C++ expression of doubles, in the order of its operands; symbols are printed by their names.
/// Where free surfaces meet, `met` (an int expression) says how many; empty: the material itself everywhere.
/// Throws InternalError for what is not constant in time.
std::string nodal_text(ir::Expr e, const ParameterPrinter& parameter, const std::string& met);

/// The names an expression uses.
struct NodalNames {
  std::set<std::string> symbols;
  std::set<std::string> parameters;
  bool surfaces = false;
};
/// Adds those of `e` to `names`. `surfaces`: with the values that only surfaces have.
void collect_names(ir::Expr e, bool surfaces, NodalNames& names);

}  // namespace ondula::emit
