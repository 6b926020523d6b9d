// Coefficient arrays that are tangents: row by row over the padded grid and its halo.
// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <span>

#include "compiler/ir/domain.hpp"
#include "compiler/ir/expr.hpp"
#include "runtime/loop/sensitivity.hpp"

namespace ondula::loop {

/// Takes one row, from the entry at `first` (padded indices) on.
using RowSink = std::function<void(const ir::Extents& first, std::span<const double> row)>;

/// The derivative of `coefficient` along `perturbation` at every entry of the padded grid and `halo` beyond,
/// of the coefficient's own stagger. Holds one slab of the grid at a time.
void tangent_rows(ir::Expr coefficient, const ir::Domain& domain, int halo, const Sensitivity& sensitivity,
                  const Perturbation& perturbation, const RowSink& put);

}  // namespace ondula::loop
