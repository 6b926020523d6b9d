// A shot's sources and receivers as taps on the padded grid, with every check they need.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/ir/points.hpp"
#include "compiler/ir/program.hpp"
#include "runtime/loop/model.hpp"
#include "runtime/types.hpp"

namespace ondula {

/// What the time loop needs of one shot.
struct ShotPoints {
  std::vector<ir::PointSource> sources;
  std::vector<ir::PointReceiver> receivers;
};

/// How a run steps: samples of the record, and steps per sample.
struct Sampling {
  std::int64_t samples = 0;
  int substeps = 1;
  std::int64_t steps() const { return samples * substeps; }
};

/// Throws UserError naming the source or receiver and shot `number`: a field the equation does not feed or
/// have, a position outside the grid, a wavelet that is not finite. Wavelets are given for every
/// step; what lies past the last one is dropped: it reaches no record.
ShotPoints shot_points(const ir::Program& program, const ir::Domain& domain, const Grid& grid,
                       const loop::Models& models, const Sampling& sampling, const Shot& shot,
                       std::int64_t number);

/// Host bytes for the sources and receivers of a shot.
struct PointBytes {
  std::size_t made = 0;   ///< before they are handed to the engine, which takes them over one by one
  std::size_t bound = 0;  ///< while the shot runs
};

/// Throws as shot_points does, but for the wavelets.
PointBytes points_bytes(const ir::Program& program, const ir::Domain& domain, const Grid& grid,
                        const loop::Models& models, const Sampling& sampling, const Shot& shot);

}  // namespace ondula
