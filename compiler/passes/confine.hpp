// confine: what a step back with rebuilt fields sums for models' derivatives in the interior only.
// SPDX-License-Identifier: MIT
#pragma once

#include <set>
#include <string>

#include "compiler/ir/program.hpp"

namespace ondula::passes {

/// Sums of `back` with stencils over rebuilt fields evolve from the interior's outermost depth on
/// (numerics.md, Boundary saving): half a cell outside of it where they lie on half cells, for a coefficient
/// there belongs to interior nodes too. What then acts nowhere goes: corrections in strips that hold none of
/// them, and memory that only those read. A rebuilt field of `partners` (no ring is kept of it) at the same
/// points begins at the same depth, so that the two share a row, and what both read; what it holds outside of
/// its own depth nobody reads. Second order, fluxes, and sums that grow in the adjoint's own updates stay as
/// they are.
void confine(ir::Program& back, const ir::Program& physical, const std::set<std::string>& rebuilt,
             const std::set<std::string>& partners);

}  // namespace ondula::passes
