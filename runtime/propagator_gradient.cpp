// Gradients: the forward run that keeps what the way back needs, the way back, and the chain rule at its end.
// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <future>
#include <numeric>

#include "compiler/error.hpp"
#include "compiler/passes/surface.hpp"
#include "runtime/adjoint_points.hpp"
#include "runtime/domain.hpp"
#include "runtime/loop/arrays.hpp"
#include "runtime/propagator_adjoint.hpp"
#include "runtime/propagator_impl.hpp"
#include "runtime/shot_batch.hpp"
#include "runtime/state_data.hpp"
#include "runtime/storage/scratch.hpp"

namespace ondula {
namespace {

void require_shapes(const AdjointSources& adjoint, const std::map<std::string, Traces>& records,
                    std::int64_t shot) {
  for (const auto& [field, traces] : adjoint) {
    const auto own = records.find(field);
    if (own == records.end()) {
      std::vector<std::string> known;
      for (const auto& [name, unused] : records) known.push_back(name);
      throw UserError(fmt::format("adjoint source of shot {}: no record of {}; there are: {}", shot, field,
                                  fmt::join(known, ", ")));
    }
    const Traces& record = own->second;
    const bool fits = traces.receivers == record.receivers && traces.samples == record.samples &&
                      traces.data.size() == record.data.size();
    if (!fits) {
      throw UserError(fmt::format(
          "adjoint source of shot {}, {}: {} traces of {} samples ({} values); the record has {} of {}", shot,
          field, traces.receivers, traces.samples, traces.data.size(), record.receivers, record.samples));
    }
    const auto wrong =
        std::find_if(traces.data.begin(), traces.data.end(), [](double v) { return !std::isfinite(v); });
    if (wrong != traces.data.end()) {
      const auto at = wrong - traces.data.begin();
      throw UserError(fmt::format("adjoint source of shot {}, {}: {} at trace {}, sample {}", shot, field,
                                  *wrong, at / traces.samples, at % traces.samples));
    }
  }
}

double product(const AdjointSources& adjoint, const std::map<std::string, Traces>& records) {
  double sum = 0;
  for (const auto& [field, traces] : adjoint) {
    const std::vector<double>& record = records.at(field).data;
    for (std::size_t i = 0; i < record.size(); ++i) sum += traces.data[i] * record[i];
  }
  return sum;
}

}  // namespace

Gradient Propagator::Impl::gradient(std::span<const Shot> shots, const std::vector<AdjointSources>& adjoint,
                                    const GradientOptions& options) {
  if (adjoint.size() != shots.size())
    throw UserError(fmt::format("{} adjoint sources for {} shots", adjoint.size(), shots.size()));
  const MisfitFunction given = [&](std::int64_t shot, const std::map<std::string, Traces>& records) {
    const AdjointSources& sources = adjoint[static_cast<std::size_t>(shot)];
    require_shapes(sources, records, shot);
    return Misfit{product(sources, records), sources};
  };
  return gradient(shots, given, options);
}

Gradient Propagator::Impl::gradient(std::span<const Shot> shots, const MisfitFunction& misfit,
                                    const GradientOptions& options) {
  require_gradient(options);
  const Limits now = begin_run(shots, std::nullopt, true);
  timings_.keeping = timings_.backward = timings_.chain = 0;
  timings_.steps_again = 0;
  substeps_ = substeps(now);
  fix_layer(now.speeds, shots);
  ready_adjoint(options);
  Adjoint& own = *adjoint_;
  Gradient result;
  loop::ModelGradient models;
  models.interior = options.extent == Extent::interior || options_.storage.keep == Storage::boundary;
  std::size_t nodes = 1;
  for (const std::int64_t n : grid_.shape) nodes *= static_cast<std::size_t>(n);
  for (const ir::Parameter& p : compilation_.physical.parameters) {
    const auto& asked = options.parameters;
    if (asked.empty() || std::find(asked.begin(), asked.end(), p.name) != asked.end())
      models.arrays[p.name].assign(nodes, 0.0);
  }
  const loop::Sensitivity sensitivity(domain_, engine_setup().symbols, models_);
  own.injected.clear();
  own.started.clear();
  own.start_sums.clear();
  own.sums.reset();
  // One shot's sums are taken from where they are.
  if (shots.size() > 1) own.sums.emplace(own.compilation.adjoint.program, domain_);
  if (shots.empty()) own.back->clear();  // each batch clears an earlier one's sums
  if (options.illumination) result.illumination.assign(nodes, 0.0);
  for (std::size_t first = 0; first < shots.size();) {
    GradientBatch batch;
    batch.shots = shots.subspan(first, std::min(shots.size() - first, static_cast<std::size_t>(own.batch)));
    batch.first = static_cast<std::int64_t>(first);
    for (std::size_t k = 0; k < batch.shots.size(); ++k)
      batch.points.push_back(points_of(shots, batch.first + static_cast<std::int64_t>(k), true));
    auto begin = Clock::now();
    Records records = run_keeping(batch);
    timings_.keeping += since(begin);
    for (std::size_t k = 0; k < batch.shots.size(); ++k) {
      const std::int64_t number = batch.first + static_cast<std::int64_t>(k);
      batch.found.push_back(misfit(number, records[k]));
      require_shapes(batch.found.back().adjoint, records[k], number);
      result.misfit += batch.found.back().value;
      result.shot_misfits.push_back(batch.found.back().value);
      if (options.records) result.records.push_back(std::move(records[k]));
    }
    begin = Clock::now();
    run_back(batch, sensitivity, options, result, models);
    timings_.backward += since(begin);
    first += batch.shots.size();
  }
  const auto begin = Clock::now();
  gather_models(sensitivity, models);
  own.sums.reset();
  timings_.chain = since(begin);
  result.models = std::move(models.arrays);
  for (const ir::Parameter& p : compilation_.physical.parameters) {
    const auto array = result.models.find(p.name);
    if (p.uniform && array != result.models.end())
      array->second = {std::accumulate(array->second.begin(), array->second.end(), 0.0)};
  }
  timings_.steady = timings_.keeping + timings_.backward;
  timings_.steps = static_cast<std::int64_t>(shots.size()) * steps_ * substeps_;
  finish_timings();
  return result;
}

void Propagator::Impl::require_gradient(const GradientOptions& options) const {
  if (options_.storage.keep == Storage::none) {
    throw UserError(
        "a gradient needs what the forward run kept, and its storage is off (memory mode none): "
        "take full");
  }
  static_cast<void>(storage_cost(options_.steps, 1));
  for (const std::string& name : options.parameters) static_cast<void>(find_parameter(name));
  if (options_.storage.keep == Storage::boundary && options.extent == Extent::model) {
    throw UserError(
        "boundary saving rebuilds the interior alone, so that nothing is known of what lies under the "
        "layers: "
        "its gradients have the interior's extent, not the model's");
  }
  if (options_.storage.keep == Storage::boundary && options.illumination) {
    throw UserError(
        "source illumination sums squares of what full storage keeps of every step; boundary saving keeps "
        "rings "
        "alone: take full, or segments of it");
  }
  if (options_.storage.steps == Tier::disk || options_.storage.states == Tier::disk)
    static_cast<void>(storage::scratch_folder(options_.storage.scratch));
}

bool Propagator::Impl::needs_unscaled(const GradientOptions& options) const {
  if (!options.initial && !options.wavelets) return false;
  return std::any_of(compilation_.physical.parameters.begin(), compilation_.physical.parameters.end(),
                     [&](const ir::Parameter& p) {
                       return p.sign == ir::Sign::nonnegative && !(models_.at(p.name).minimum() > 0);
                     });
}

void Propagator::Impl::ready_adjoint(const GradientOptions& options) {
  engine_.reset();
  release_born();
  state_known_ = false;
  models_changed_ = true;
  const bool unscaled = needs_unscaled(options);
  if (!adjoint_ || adjoint_->unscaled != unscaled) {
    adjoint_.reset();  // an error on the way leaves none rather than half a one
    device_.reset();   // tuning may want the room
    auto fresh = std::make_unique<Adjoint>();
    fresh->unscaled = unscaled;
    const auto begin = Clock::now();
    const bool rebuilt = options_.storage.keep == Storage::boundary;
    fresh->compilation = passes::compile_adjoint(equation_, pipeline(), unscaled, rebuilt);
    machine_.ready();
    if (!machine_.reference()) {
      StepSource keep = machine_.source(fresh->compilation.forward, domain_, fresh->least_halo());
      StepSource step = machine_.source(fresh->compilation.backward, domain_, fresh->least_halo());
      auto back = std::async(std::launch::async, [&] { return machine_.compile(std::move(step)); });
      fresh->keep_kernels = machine_.compile(std::move(keep));
      fresh->back_kernels = back.get();
    }
    timings_.compile = since(begin);
    timings_.compiled = fresh->keep_kernels.compiled() || fresh->back_kernels.compiled();
    timings_.tuning = machine_.tuning_seconds();
    adjoint_ = std::move(fresh);
  }
  Adjoint& own = *adjoint_;
  own.require_room(domain_);
  count_way_back();
  const auto bytes = [&](std::int64_t batch) {
    return gradient_bytes(own.compilation, batch, steps_, substeps_, counts_, counts_back_).device;
  };
  const std::int64_t wanted = choose_batch(counts_.size(), bytes);
  if (own.keep && too_large(own.shots, wanted, bytes)) own.release();
  own.batch = with_room(wanted, [&](std::int64_t batch) {
    if (batch < wanted) own.release();
    ready_adjoint_engines(batch);
  });
}

void Propagator::Impl::ready_adjoint_engines(std::int64_t batch) {
  Adjoint& own = *adjoint_;
  own.cost = storage_cost(steps_, substeps_);
  const std::int64_t slots = own.cost.longest * substeps_ + 1;
  const bool kept =
      own.history && own.history->slots() == slots && own.states && own.states->count() == own.cost.states;
  // A history of other steps is made anew in any case: then for no more shots than need one.
  const bool other = !kept && own.shots != batch;
  if (own.keep && (own.shots < batch || other)) own.release();
  if (!own.keep) {
    loop::EngineSetup setup = engine_setup(batch);
    setup.least_halo = own.least_halo();
    own.states.reset();
    own.history.reset();  // both are of the device that goes
    own.back.reset();
    renew_device();
    auto keep = machine_.make_engine(own.compilation.forward, setup, device_.get(), own.keep_kernels);
    own.back = machine_.make_engine(own.compilation.backward, setup, device_.get(), own.back_kernels);
    own.keep = std::move(keep);
    own.shots = batch;
  }
  if (own.models != models_version_) {
    own.models = -1;
    own.require_divisors(domain_, loop::Sensitivity(domain_, engine_setup().symbols, models_));
    own.keep->set_models(models_);
    own.back->set_models(models_);
    own.models = models_version_;
  }
  if (!kept || !own.history) {
    own.states.reset();
    own.history.reset();  // before there is room for another
    const StoragePlan& plan = options_.storage;
    own.history = own.keep->make_history(own.compilation.adjoint.saves, slots,
                                         {plan.steps, plan.scratch, options_.scratch_files});
    own.states.emplace(*own.keep, own.cost.states,
                       loop::HistoryTier{plan.states, plan.scratch, options_.scratch_files});
    const storage::BlobBytes steps = own.history->below(), states = own.states->below();
    below_peak_.host = std::max(below_peak_.host, steps.host + states.host);
    below_peak_.disk = std::max(below_peak_.disk, steps.disk + states.disk);
    require_room_for_points(batch);
  }
  if (own.schedule.empty() || own.steps != steps_ * substeps_)
    own.schedule =
        storage::make_schedule(options_.storage.checkpoints, steps_,
                               storage::revolve_stretch(options_.storage.checkpoints.count, substeps_));
  own.steps = steps_ * substeps_;
}

Records Propagator::Impl::run_keeping(GradientBatch& batch) {
  Adjoint& own = *adjoint_;
  own.keep_points(batch.points);
  std::vector<std::size_t> widths;
  for (std::size_t s = 0; s < batch.shots.size(); ++s) {
    const std::size_t slopes = batch.points[s].receiver_slopes.size();
    widths.push_back(batch.shots[s].receivers.size() + slopes);
    batch.slopes.emplace_back(slopes, std::vector<double>(static_cast<std::size_t>(steps_), 0.0));
  }
  BatchRecorder recorder(batch.shots, steps_, widths);
  own.states->begin();
  own.history->reset();
  own.keep->stand(*own.history, 0);
  start_shot(*own.keep);
  if (start_ || !initial_.empty()) own.keep_start();
  const std::int64_t first = step_now_;
  loop::Watch watch = watch_of(recorder, batch.first, first);
  watch.samples = [&](std::int64_t step, std::span<const double> samples) {
    const std::int64_t n = step / substeps_ - first;
    recorder.put(n, samples);
    for (std::size_t s = 0; s < batch.shots.size(); ++s) {
      const auto values = recorder.of(s, samples).subspan(batch.shots[s].receivers.size());
      for (std::size_t k = 0; k < values.size(); ++k)
        batch.slopes[s][k][static_cast<std::size_t>(n)] = values[k];
    }
  };
  go_ahead(batch, watch);
  own.keep->finish(watch);
  return recorder.take();
}

/// What the models do to the weights of receivers at surfaces.
void Propagator::Impl::add_slopes(const GradientBatch& batch, std::size_t shot,
                                  const loop::Sensitivity& sensitivity, loop::ModelGradient& models) const {
  const ShotPoints& points = batch.points[shot];
  for (std::size_t k = 0; k < batch.slopes[shot].size(); ++k) {
    const TracePlace place = trace_places(batch.shots[shot]).at(points.receiver_slopes[k].point);
    const auto traces = batch.found[shot].adjoint.find(place.field);
    if (traces == batch.found[shot].adjoint.end()) continue;
    double sum = 0;
    for (std::int64_t n = 0; n < steps_; ++n)
      sum += traces->second.data[static_cast<std::size_t>(place.row * steps_ + n)] *
             batch.slopes[shot][k][static_cast<std::size_t>(n)];
    transpose_ratio(adjoint_->compilation.adjoint.forward, sensitivity, points.receiver_slopes[k].ratio, sum,
                    models);
  }
}

void Propagator::Impl::run_back(GradientBatch& batch, const loop::Sensitivity& sensitivity,
                                const GradientOptions& options, Gradient& result,
                                loop::ModelGradient& models) {
  Adjoint& own = *adjoint_;
  own.back->clear();
  std::vector<loop::EnginePoints> points;
  std::vector<AdjointPoints> backs;
  std::vector<std::size_t> first_value{0};
  backs.reserve(batch.shots.size());
  for (std::size_t s = 0; s < batch.shots.size(); ++s) {
    backs.emplace_back(own.compilation.adjoint, domain_, sensitivity, batch.shots[s], batch.points[s],
                       substeps_);
    points.push_back({backs[s].residuals(batch.found[s].adjoint, steps_), backs[s].taps()});
    if (!own.compilation.adjoint.handovers.empty())
      backs[s].undo((start_ ? start_->step : 0) * substeps_, own.steps, points.back().sources);
    first_value.push_back(first_value.back() + points.back().receivers.size());
  }
  own.back->set_shots(std::move(points));
  loop::Watch watch;
  watch.receivers = first_value.back();
  const std::int64_t last = own.steps - 1;
  const std::int64_t first = first_sample() * substeps_;
  watch.samples = [&](std::int64_t j, std::span<const double> found) {
    for (std::size_t s = 0; s < backs.size(); ++s)
      backs[s].collect(first + last - j, found.subspan(first_value[s], first_value[s + 1] - first_value[s]));
  };
  watch.magnitude = [&](std::int64_t done, std::span<const double> sizes) {
    for (std::size_t s = 0; s < sizes.size(); ++s)
      require_bounded(batch.first + static_cast<std::int64_t>(s), (last + 1 - done) / substeps_ + 1,
                      sizes[s]);
  };
  if (options.illumination)
    batch.illumination.assign(batch.shots.size(), std::vector<double>(result.illumination.size(), 0.0));
  go_back(batch, watch);
  for (std::size_t s = 0; s < batch.shots.size(); ++s) {
    own.back->look_at(static_cast<std::int64_t>(s));
    add_slopes(batch, s, sensitivity, models);
    if (options.wavelets) result.wavelets.push_back(backs[s].wavelets());
    backs[s].strengths(models);
    own.take_injected(backs[s]);
    own.take_start();
    if (options.initial) gather_initial(sensitivity, result);
    // Each shot's apart: whatever the stretches and batches, the sums are the same.
    if (options.illumination) {
      for (std::size_t k = 0; k < result.illumination.size(); ++k)
        result.illumination[k] += batch.illumination[s][k];
    }
    if (own.sums) own.sums->add(*own.back, device_.get());
  }
}

}  // namespace ondula
