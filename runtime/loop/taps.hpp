// Sources and receivers between grid points: weights on the padded grid.
// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "compiler/ir/points.hpp"
#include "runtime/types.hpp"

namespace ondula::loop {

/// Weights of a point at `cells` (model cells from the first node, within the grid) on the grid of `field`:
/// one weight 1 where it falls on a node of that grid, else per axis the Kaiser-windowed sinc of radius 4,
/// beta 6.31 (Hicks 2002, doi:10.1190/1.1451454, eq. 6 to 8) or the linear one, normalised to sum 1. Taps
/// beyond a face are dropped, or folded back by the face's image. Indices are padded.
std::vector<ir::Tap> interpolation_taps(const ir::Domain& domain, const ir::Field& field, bool first_order,
                                        const std::vector<double>& cells, Interpolation interpolation);

/// The same weights before anything is dropped or folded, on the points `half` cells (0 or 1 half cell per
/// axis) off the nodes: indices may lie beyond the faces.
std::vector<ir::Tap> unfolded_taps(const ir::Domain& domain, const ir::HalfCells& half,
                                   const std::vector<double>& cells, Interpolation interpolation);

/// A position this close to a node, in cells, is on it: metres divided by the spacing carry rounding.
bool on_node(double cell);

}  // namespace ondula::loop
