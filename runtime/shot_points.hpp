// A shot's sources and receivers as taps on the padded grid, with every check they need.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "compiler/ir/points.hpp"
#include "compiler/ir/program.hpp"
#include "runtime/loop/cuda_points.hpp"
#include "runtime/loop/model.hpp"
#include "runtime/sources.hpp"
#include "runtime/types.hpp"

namespace ondula {

/// What the time loop needs of one shot.
struct ShotPoints {
  std::vector<ir::PointSource> sources;
  std::vector<ir::PointReceiver> receivers;
  std::vector<PointSlopes> source_slopes;    ///< `point` is that of the source; see SourceTaps::add
  std::vector<PointSlopes> receiver_slopes;  ///< `point` is that of the receiver
};

/// Throws UserError naming the source or receiver and shot `number`: a field the equation does not feed or
/// have, a position outside the grid, a wavelet that is not finite. Wavelets are given for every
/// step; what lies past the last one is dropped: it reaches no record. With `slopes` it is told how weights
/// follow the model.
ShotPoints shot_points(const ir::Program& program, const ir::Domain& domain, const Grid& grid,
                       const loop::Models& models, const Sampling& sampling, const Shot& shot,
                       std::int64_t number, bool slopes = false);

/// Sources and receivers as one shot has them, counted.
struct ShotCounts {
  loop::PointCounts points;
  std::size_t slope_rows = 0, slope_taps = 0;  ///< of receivers' slopes
  /// By the term that sources feed: how many, and their taps, slopes of their weights included.
  std::map<std::string, std::pair<std::size_t, std::size_t>> fed;
};

ShotCounts counts_of(const ShotPoints& points);

/// What messages call them.
std::string source_name(std::size_t index, std::int64_t shot);
std::string receiver_name(std::size_t index, std::int64_t shot);

}  // namespace ondula
