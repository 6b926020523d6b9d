// The factor a source term has at one grid point, from the models there.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/ir/evaluate.hpp"
#include "runtime/loop/model.hpp"

namespace ondula::loop {

/// Injection::factor at padded `index`: pointwise in parameters and symbols, with harmonic means of the nodes
/// around an off-node point (numerics.md, Space). Values that differ on surfaces follow the rows of
/// `surfaces`; without it they are the material's own.
double source_factor(ir::Expr factor, const ir::Symbols& symbols, const PaddedModel& model,
                     const ir::Extents& index, const ir::Domain* surfaces = nullptr);

}  // namespace ondula::loop
