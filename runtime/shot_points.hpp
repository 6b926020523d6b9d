// A shot's sources and receivers as taps on the padded grid, with every check they need.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
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

/// How many there are of each kind.
loop::PointCounts counts_of(const ShotPoints& points);

/// What messages call them.
std::string source_name(std::size_t index, std::int64_t shot);
std::string receiver_name(std::size_t index, std::int64_t shot);

}  // namespace ondula
