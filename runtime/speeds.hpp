// The wave speeds of any equation, cell by cell, from its plane-wave symbol.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/ir/program.hpp"
#include "runtime/loop/model.hpp"
#include "runtime/scheme.hpp"

namespace ondula {

/// Fastest and slowest speed, and where (model indices).
struct Speeds {
  double fastest = 0;  ///< m/s
  double slowest = 0;  ///< m/s, of the waves that move at all: shear waves of a fluid do not count
  std::vector<std::int64_t> fastest_cell;
};

/// In a medium that is everywhere as it is in one cell, plane waves exp(i k (n.x - c t)) have c^2 among the
/// eigenvalues of the operator's symbol at the direction n (for isotropic elasticity the Christoffel matrix:
/// vp^2, vs^2, vs^2). Extremes over all cells of the model and over a set of directions; one direction where
/// the equation is isotropic. Terms of lower order than the highest, which disperse, are left out. Throws
/// UserError, with the cell, where c^2 is negative or not finite, or where nothing moves.
Speeds speeds(const ir::Program& physical, const Scheme& scheme, const loop::Models& models,
              const std::vector<std::int64_t>& shape);

}  // namespace ondula
