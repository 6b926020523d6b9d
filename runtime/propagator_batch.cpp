// Batches of shots: how many run at once, and the loop over them.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <limits>
#include <variant>

#include "runtime/loop/arrays.hpp"
#include "runtime/propagator_adjoint.hpp"
#include "runtime/propagator_impl.hpp"
#include "runtime/shot_batch.hpp"

namespace ondula {

std::size_t Propagator::Impl::engine_bytes(const passes::Compilation& compilation, int least_halo,
                                           std::int64_t batch, int substeps,
                                           std::span<const loop::PointCounts> points) const {
  return machine_.engine_bytes(compilation, domain_, least_halo, batch, substeps,
                               points_at_once(points, batch));
}

/// Each source feeds the tangents of what it feeds as well (born_points.hpp).
void Propagator::Impl::count_tangents() {
  for (std::size_t s = 0; s < counts_.size(); ++s) {
    const ShotCounts& own = shot_counts_[s];
    counts_[s].rows += own.slope_rows;
    counts_[s].row_taps += own.slope_taps;
    for (const ir::Operation& operation : compilation_.physical.operations) {
      const auto* injection = std::get_if<ir::Injection>(&operation);
      const auto fed = injection == nullptr ? own.fed.end() : own.fed.find(injection->source);
      if (fed == own.fed.end()) continue;
      counts_[s].sources += fed->second.first;
      counts_[s].source_taps += fed->second.second;
    }
  }
}

/// Slopes of receivers are sampled; on the way back receivers inject, and the adjoints of what a source feeds
/// are looked at in each of its taps (adjoint_points.hpp).
std::pair<loop::PointCounts, loop::PointCounts> Propagator::Impl::both_ways(const ir::Adjoint& adjoint,
                                                                            const ShotCounts& shot) {
  loop::PointCounts ahead = shot.points, back{shot.points.rows, shot.points.row_taps, 0, 0};
  ahead.rows += shot.slope_rows;
  ahead.row_taps += shot.slope_taps;
  for (const ir::Operation& operation : adjoint.forward.operations) {
    const auto* injection = std::get_if<ir::Injection>(&operation);
    const auto fed = injection == nullptr ? shot.fed.end() : shot.fed.find(injection->source);
    if (fed == shot.fed.end()) continue;
    if (!adjoint.handovers.empty()) {  // rebuilt fields are given what sources fed
      back.sources += fed->second.first;
      back.source_taps += fed->second.second;
    }
    for (const ir::AdjointVariable& variable : adjoint.variables) {
      if (variable.field == injection->field) back.rows += fed->second.second * variable.value.terms.size();
    }
  }
  back.row_taps = back.rows;
  return {ahead, back};
}

void Propagator::Impl::count_way_back() {
  for (std::size_t s = 0; s < counts_.size(); ++s) {
    const auto [ahead, back] = both_ways(adjoint_->compilation.adjoint, shot_counts_[s]);
    counts_[s] = ahead;
    counts_back_.push_back(back);
  }
}

/// What comes after an engine, with the first shots, has to find room as well.
void Propagator::Impl::require_room_for_points(std::int64_t batch) const {
  if (batch == 1 || !machine_.cuda()) return;
  std::size_t bytes = machine_.points_bytes(substeps_, points_at_once(counts_, batch));
  if (!counts_back_.empty()) bytes += machine_.points_bytes(1, points_at_once(counts_back_, batch));
  static_cast<void>(device_->allocate(bytes));
}

/// Both engines, states, and a history of the longest stretch; slot 0 is the state it starts from.
Propagator::Impl::GradientBytes Propagator::Impl::gradient_bytes(
    const passes::AdjointCompilation& both, std::int64_t batch, std::int64_t steps, int substeps,
    std::span<const loop::PointCounts> points, std::span<const loop::PointCounts> points_of_back) const {
  const storage::Cost cost = storage_cost(steps, substeps);
  const int halo =
      std::max(loop::common_halo(both.forward.kernels), loop::common_halo(both.backward.kernels));
  const std::int64_t slots = cost.longest * substeps + 1;
  const loop::PointCounts ahead = points_at_once(points, batch);
  const loop::PointCounts back = points_at_once(points_of_back, batch);
  GradientBytes bytes;
  const StoragePlan& plan = options_.storage;
  bytes.slot = machine_.slot_bytes(both.forward, domain_, halo, batch, both.adjoint.saves.size());
  bytes.history = static_cast<std::size_t>(slots) * bytes.slot;
  bytes.state = machine_.state_bytes(both.forward, domain_, halo, batch);
  bytes.states = static_cast<std::size_t>(cost.states) * bytes.state;
  const TierBytes kept = machine_.history_bytes(plan.steps, slots, bytes.slot);
  const storage::BlobBytes states =
      storage::state_blob_bytes(storage::state_blobs({plan.states, {}, {}}, cost.states, bytes.state));
  bytes.device = machine_.engine_bytes(both.forward, domain_, halo, batch, substeps, ahead) +
                 machine_.engine_bytes(both.backward, domain_, halo, batch, 1, back) + kept.device;
  if (plan.states == Tier::device) bytes.device += bytes.states;
  bytes.host = kept.host + states.host;
  bytes.disk = kept.disk + states.disk;
  return bytes;
}

std::int64_t Propagator::Impl::choose_batch(std::size_t shots,
                                            const std::function<std::size_t(std::int64_t)>& bytes) const {
  if (!machine_.cuda() || shots <= 1) return 1;
  const cuda::DeviceFacts* const facts = machine_.device_facts();
  BatchQuestion question;
  question.shots = static_cast<std::int64_t>(shots);
  question.asked = options_.shot_batch;
  question.most = machine_.most_shots(domain_);
  question.points = domain_.points();
  question.multiprocessors = facts != nullptr ? facts->multiprocessors : 0;
  question.room = device_room(options_.shot_batch == 0);
  question.bytes = bytes;
  return shots_at_once(question);
}

/// Others may use the device too: a choice of our own leaves them half of it.
std::size_t Propagator::Impl::device_room(bool chosen) const {
  const cuda::DeviceFacts* const facts = machine_.device_facts();
  const std::size_t all = facts != nullptr ? facts->bytes : std::numeric_limits<std::size_t>::max();
  const std::size_t limit = options_.device_bytes_limit;
  return limit > 0 ? std::min(limit, all) : chosen ? all / 2 : all;
}

bool Propagator::Impl::too_large(std::int64_t held, std::int64_t batch,
                                 const std::function<std::size_t(std::int64_t)>& bytes) const {
  return machine_.cuda() && held > batch && !fits_with_margin(bytes(held), device_room(false));
}

std::int64_t Propagator::Impl::batch_of(const passes::Compilation& compilation, int least_halo) const {
  return choose_batch(counts_.size(), [&](std::int64_t batch) {
    return engine_bytes(compilation, least_halo, batch, substeps_, counts_);
  });
}

Records Propagator::Impl::run_shots(loop::Engine& engine, std::span<const Shot> shots, std::int64_t batch,
                                    Clock::time_point entry,
                                    const std::function<ShotPoints(std::int64_t)>& points_of_shot) {
  Records records;
  for (std::size_t first = 0; first < shots.size();) {
    const std::size_t count = std::min(shots.size() - first, static_cast<std::size_t>(batch));
    std::vector<loop::EnginePoints> points;
    for (std::size_t k = 0; k < count; ++k) {
      ShotPoints own = points_of_shot(static_cast<std::int64_t>(first + k));
      points.push_back({std::move(own.sources), std::move(own.receivers)});
    }
    start_shot(engine);
    state_known_ = &engine == engine_.get();
    engine.set_shots(std::move(points));
    engine.look_at(static_cast<std::int64_t>(count) - 1);
    Records own = run_batch(engine, shots.subspan(first, count), static_cast<std::int64_t>(first),
                            first == 0 ? entry : Clock::now());
    for (auto& record : own) records.push_back(std::move(record));
    first += count;
  }
  finish_timings();
  return records;
}

}  // namespace ondula
