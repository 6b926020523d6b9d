// From a caller's grid to the padded domain of the compiler, with every check a grid needs.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/ir/domain.hpp"
#include "runtime/types.hpp"

namespace ondula {

/// Throws UserError for axes, extents, spacings or faces that cannot be: unknown axes, zero or negative
/// extents, a grid smaller than the stencil (naming the least size), a periodic axis with another face
/// opposite, negative widths.
ir::Domain make_domain(const Grid& grid, int order);

/// Position in metres to cells from the first node; throws UserError where it is outside the grid, naming
/// `what` ("source 2 of shot 0"), the axis, the value, the range and the unit.
std::vector<double> cells_of(const Grid& grid, const std::vector<double>& position, const std::string& what);

/// "z 12, x 30": a node's index along each axis, for messages.
std::string cell_text(const Grid& grid, const std::vector<std::int64_t>& cell);

/// 1/2 on the rows of faces about which a field on nodes is even, for each such axis; 1 elsewhere
/// (numerics.md, Gradient: H). An axis counts where it does for any of `fields`.
double node_weight(const ir::Domain& domain, const std::vector<const ir::Field*>& fields,
                   const ir::HalfCells& stagger, bool first_order, const ir::Extents& index);

}  // namespace ondula
