// Evaluating what does not vary in time: scalars from symbols, coefficients from nodal parameter values, in
// double. SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "compiler/ir/expr.hpp"

namespace ondula::ir {

using Symbols = std::map<std::string, double>;

/// The value of an expression of constants and symbols. Throws InternalError for anything else.
double scalar_value(Expr e, const Symbols& symbols);

/// One row of nodal parameter values.
using ParameterRow = std::function<const double*(const std::string&)>;

/// How many free surfaces meet in node i of a row.
using SurfaceRow = std::function<int(std::size_t)>;

/// out[i] = e at each of `count` nodes; e is pointwise in parameters and symbols. Surface values follow
/// `surfaces`; without it they are the interior's everywhere (limits and speeds want those).
void nodal_values(Expr e, const Symbols& symbols, const ParameterRow& parameter, std::size_t count,
                  std::vector<double>& out, const SurfaceRow& surfaces = {});

}  // namespace ondula::ir
