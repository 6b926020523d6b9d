// Both directions of any equation below the Propagator, which wants to know an equation's stability limit.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "compiler/passes/pipeline.hpp"
#include "runtime/loop/engine.hpp"
#include "runtime/shot_points.hpp"
#include "tests/runtime/gradient/problem.hpp"

namespace ondula::test {

/// By field and level, on the padded grid.
using States = std::map<std::pair<std::string, int>, std::vector<double>>;

/// A run in float64 with cells of 10 m: models on the nodes, a start, one shot whose sources and receivers
/// are taps on the fields' own points.
struct TwoWays {
  ir::Domain domain;
  std::vector<std::string> axes;
  double dt = 1e-3;
  std::int64_t steps = 30;
  bool reference = true;  ///< or kernels on the host
  Arrays models;
  States start;
  Shot shot;  ///< of its sources the wavelets count, of its receivers the fields
  ShotPoints points;

  loop::EngineSetup setup(int least_halo = 0) const;
  loop::Models arrays() const;
};

/// Low and high of each parameter.
using Ranges = std::map<std::string, std::pair<double, double>>;

/// Noise in every parameter; in every field a source of noise (if the equation feeds it), a receiver and a
/// start, at every level it has. `raw`: what sources give does not depend on the models.
TwoWays two_ways(const ir::Program& physical, const ir::Domain& domain, const Ranges& ranges, unsigned seed,
                 bool raw = false);

/// Step by step, all receivers.
std::vector<double> records_of(const passes::Compilation& forward, const TwoWays& run);
/// The derivative along a change of the models; for raw sources.
std::vector<double> tangent_of(const passes::BornCompilation& born, const TwoWays& run, const Arrays& change);

/// What sum residual * record changes by.
struct Derivatives {
  Arrays models;
  States start;
  std::vector<std::vector<double>> wavelets;
};
Derivatives derivatives_of(const passes::AdjointCompilation& both, const TwoWays& run,
                           const std::vector<double>& residual);

/// A step without sources and the step back as matrices, on the live entries of all fields and levels; for
/// domains without layers. Adjoints are had from the step back's variables: `before` and `after` hold those
/// of each unit vector of variables.
struct StepMatrices {
  std::size_t size = 0;
  std::vector<std::size_t> block;              ///< of each entry: its field and level
  std::vector<double> forward, before, after;  ///< column by column

  /// The largest entry of |after - forward^T before|, over the largest of |forward|^T |before| between the
  /// same two fields and levels (over that of all `after`, where nothing links these).
  double transposition_error() const;
};
StepMatrices step_matrices(const ir::Adjoint& adjoint, const TwoWays& run);

/// Of a program as it is after `absorb`, for the reference alone.
passes::AdjointCompilation adjoint_of(const ir::Program& physical, bool unscaled = false);

}  // namespace ondula::test
