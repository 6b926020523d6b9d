// What a Propagator holds for gradients.
// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/adjoint_points.hpp"
#include "runtime/gradient_sums.hpp"
#include "runtime/propagator_impl.hpp"
#include "runtime/storage/schedule.hpp"
#include "runtime/storage/state_store.hpp"

namespace ondula {

/// Kernels, engines and history of the two directions.
struct Propagator::Impl::Adjoint {
  bool unscaled = false;
  std::int64_t models = -1;  ///< which of the Propagator's models the engines have
  passes::AdjointCompilation compilation;
  StepKernels keep_kernels, back_kernels;
  std::unique_ptr<loop::Engine> keep, back;
  std::unique_ptr<loop::History> history;  ///< of one stretch
  std::optional<storage::StateStore> states;
  storage::Schedule schedule;
  storage::Cost cost;
  std::int64_t shots = 1;            ///< that engines and history hold at once, at most
  std::int64_t batch = 1;            ///< of them, in the present call
  std::optional<GradientSums> sums;  ///< over shots, where there are several
  std::int64_t steps = 0;            ///< of a shot, substeps counted
  std::map<std::string, std::map<ir::Extents, double>> injected;
  /// What a shot's fields were at its start, and over the shots the sums of their products with the adjoints'
  /// last values, on the padded grid; by forward field and level, and empty where shots start from zeros.
  std::map<std::pair<std::string, int>, std::vector<double>> started, start_sums;

  /// Of both engines' full arrays.
  int least_halo() const;
  /// Gives back the engines' memory and the history; kernels stay.
  void release();
  /// Sources, receivers and, after them, the receivers' slopes, of each shot.
  void keep_points(const std::vector<ShotPoints>& points);
  /// Adds up what AdjointPoints::injected tells of a shot.
  void take_injected(const AdjointPoints& points);
  /// Remembers the fields of ir::StartTerm as a shot starts, and adds up their products after its step back.
  void keep_start();
  void take_start();
  /// Throws UserError where a face mirrors what has no such images, or where a layer lies so near a mirroring
  /// face that what the adjoint's memory variables spread would reach past it.
  void require_room(const ir::Domain& domain) const;
  /// Throws UserError where a medium has no inverse law: its bulk modulus is 0.
  void require_divisors(const ir::Domain& domain, const loop::Sensitivity& sensitivity) const;
  /// That of `count` steps of the history, the latest first, of one shot of the batch.
  void add_illumination(const ir::Domain& domain, std::vector<double>& nodes, std::int64_t shot,
                        std::int64_t count) const;
};

/// Shots of a gradient that run at once, from number `first` of the call on.
struct Propagator::Impl::GradientBatch {
  std::span<const Shot> shots;
  std::int64_t first = 0;
  std::vector<ShotPoints> points;
  std::vector<std::vector<std::vector<double>>> slopes;  ///< by shot, slope of a receiver, sample
  std::vector<Misfit> found;
  std::vector<std::vector<double>> illumination;   ///< by shot; empty where it is not asked for
  std::size_t next = 0;                            ///< of the schedule's actions
  bool again = false;                              ///< steps that run have run before
  std::int64_t told = 0;                           ///< samples run in either direction
  std::int64_t unwatched = 0, unwatched_back = 0;  ///< of them since the last look at magnitudes
};

}  // namespace ondula
