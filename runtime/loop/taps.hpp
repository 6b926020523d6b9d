// Sources and receivers between grid points: weights on the padded grid.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "compiler/ir/points.hpp"
#include "runtime/kaiser_sinc.hpp"
#include "runtime/types.hpp"

namespace ondula::loop {

inline constexpr int sinc_radius = 4;

/// The sinc's weights along one axis. The last few are kept: components of one point, and points of one line,
/// lie alike between the entries.
class SincWeights {
 public:
  SincWeights();
  /// Of the entries -3 to 4 for a position of `part`, within (0, 1); their sum is 1. Valid until the next call.
  const std::array<double, 2 * sinc_radius>& at(double part);

 private:
  struct Known {
    double part = -1;
    std::array<double, 2 * sinc_radius> weights{};
  };
  KaiserSinc windowed_;
  std::array<Known, 8> known_;
  std::size_t next_ = 0;
};

/// Weights of a point at `cells` (model cells from the first node, within the grid) on the grid of `field`:
/// one weight 1 where it falls on a node of that grid, else per axis the Kaiser-windowed sinc of radius 4,
/// beta 6.31 (Hicks 2002, doi:10.1190/1.1451454, eq. 6 to 8) or the linear one, normalised to sum 1. Taps
/// beyond a face are dropped, or folded back by the face's image. Indices are padded.
std::vector<ir::Tap> interpolation_taps(const ir::Domain& domain, const ir::Field& field, bool first_order,
                                        const std::vector<double>& cells, Interpolation interpolation);

/// The same weights before anything is dropped or folded, on the points `half` cells (0 or 1 half cell per
/// axis) off the nodes: indices may lie beyond the faces.
std::vector<ir::Tap> unfolded_taps(const ir::Domain& domain, const ir::HalfCells& half,
                                   const std::vector<double>& cells, Interpolation interpolation,
                                   SincWeights& sinc);

/// A position this close to a node, in cells, is on it: metres divided by the spacing carry rounding.
bool on_node(double cell);

}  // namespace ondula::loop
