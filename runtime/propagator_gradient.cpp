// Gradients: the forward run that keeps what the way back needs, the way back, and the chain rule at its end.
// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <future>

#include "compiler/error.hpp"
#include "compiler/passes/surface.hpp"
#include "runtime/adjoint_points.hpp"
#include "runtime/domain.hpp"
#include "runtime/loop/arrays.hpp"
#include "runtime/propagator_adjoint.hpp"
#include "runtime/propagator_impl.hpp"
#include "runtime/state_data.hpp"

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

/// Of an entry of the padded grid.
std::int64_t flat_of(const ir::Domain& domain, const ir::Extents& i) {
  return (i[0] * domain.total(1) + i[1]) * domain.total(2) + i[2];
}

template <class F>
void each_entry(const ir::Box& box, const F& f) {
  ir::Extents i{};
  std::size_t flat = 0;
  for (i[0] = box[0].lo; i[0] < box[0].hi; ++i[0]) {
    for (i[1] = box[1].lo; i[1] < box[1].hi; ++i[1]) {
      for (i[2] = box[2].lo; i[2] < box[2].hi; ++i[2]) f(i, flat++);
    }
  }
}

/// f(index, k) for the entries k of a row that lie on the outermost nodes of any axis, where weights differ
/// from 1.
template <class F>
void each_face_entry(const ir::Domain& domain, const ir::Extents& first, std::size_t count, const F& f) {
  const int along = domain.dims - 1;
  const auto inner = static_cast<std::size_t>(along);
  const auto on_face = [&](int axis, std::int64_t i) { return i == 0 || i == domain.total(axis) - 1; };
  bool all = false;
  for (int axis = 0; axis < along; ++axis) all = all || on_face(axis, first[static_cast<std::size_t>(axis)]);
  ir::Extents index = first;
  for (std::size_t k = 0; k < count; ++k, ++index[inner]) {
    if (all || on_face(along, index[inner])) f(index, k);
  }
}

ir::Box row_from(const ir::Domain& domain, const ir::Extents& index, std::size_t count) {
  ir::Box box;
  for (std::size_t a = 0; a < box.size(); ++a) box[a] = {index[a], index[a] + 1};
  box[static_cast<std::size_t>(domain.dims - 1)].hi += static_cast<std::int64_t>(count) - 1;
  return box;
}

/// The box in an even number of slabs along its first axis: the first and the last hold all that folds onto
/// the edge nodes, so that every other slab adds to nodes of its own.
std::vector<ir::Box> slabs_of(const ir::Domain& domain, const ir::Box& box) {
  constexpr std::int64_t margin = 8, inner = 14;
  const std::int64_t lo = domain.pad[0][0] + margin, hi = domain.total(0) - domain.pad[0][1] - margin;
  if (hi - lo < 4 * inner) return {box};
  std::vector<std::int64_t> cuts = {box[0].lo};
  for (std::int64_t k = 0; k <= inner; ++k) cuts.push_back(lo + (hi - lo) * k / inner);
  cuts.push_back(box[0].hi);
  std::vector<ir::Box> slabs;
  for (std::size_t k = 0; k + 1 < cuts.size(); ++k) {
    slabs.push_back(box);
    slabs.back()[0] = {cuts[k], cuts[k + 1]};
  }
  return slabs;
}

std::vector<const ir::Field*> fields_of(const ir::Program& program, const std::vector<std::string>& names) {
  std::vector<const ir::Field*> fields;
  for (const std::string& name : names) fields.push_back(&program.field(name));
  return fields;
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
  const Limits now = begin_run(shots, std::nullopt);
  timings_.keeping = timings_.backward = timings_.chain = 0;
  substeps_ = substeps(now);
  fix_layer(now.speeds, shots);
  ready_adjoint(options);
  Gradient result;
  loop::ModelGradient models;
  models.interior = options.extent == Extent::interior;
  std::size_t nodes = 1;
  for (const std::int64_t n : grid_.shape) nodes *= static_cast<std::size_t>(n);
  for (const ir::Parameter& p : compilation_.physical.parameters) {
    const auto& asked = options.parameters;
    if (asked.empty() || std::find(asked.begin(), asked.end(), p.name) != asked.end())
      models.arrays[p.name].assign(nodes, 0.0);
  }
  const loop::Sensitivity sensitivity(domain_, engine_setup().symbols, models_);
  adjoint_->injected.clear();
  adjoint_->started.clear();
  adjoint_->start_sums.clear();
  if (shots.empty()) adjoint_->back->clear();  // the first shot clears an earlier call's sums
  if (options.illumination) result.illumination.assign(nodes, 0.0);
  for (std::size_t s = 0; s < shots.size(); ++s) {
    const auto number = static_cast<std::int64_t>(s);
    const ShotPoints points = points_of(shots, number, true);
    std::vector<std::vector<double>> slopes;
    adjoint_->keep_points(points);
    auto begin = Clock::now();
    auto records = run_keeping(shots[s], number, slopes);
    timings_.keeping += since(begin);
    Misfit found = misfit(number, records);
    require_shapes(found.adjoint, records, number);
    result.misfit += found.value;
    result.shot_misfits.push_back(found.value);
    for (std::size_t k = 0; k < slopes.size(); ++k) {
      const TracePlace place = trace_places(shots[s]).at(points.receiver_slopes[k].point);
      const auto traces = found.adjoint.find(place.field);
      if (traces == found.adjoint.end()) continue;
      double sum = 0;
      for (std::int64_t n = 0; n < steps_; ++n)
        sum += traces->second.data[static_cast<std::size_t>(place.row * steps_ + n)] *
               slopes[k][static_cast<std::size_t>(n)];
      transpose_ratio(adjoint_->compilation.adjoint.forward, sensitivity, points.receiver_slopes[k].ratio,
                      sum, models);
    }
    begin = Clock::now();
    run_back(shots[s], number, points, found.adjoint, sensitivity, options, result, models);
    timings_.backward += since(begin);
    if (options.records) result.records.push_back(std::move(records));
  }
  const auto begin = Clock::now();
  gather_models(sensitivity, models);
  timings_.chain = since(begin);
  result.models = std::move(models.arrays);
  timings_.steady = timings_.keeping + timings_.backward;
  timings_.steps = static_cast<std::int64_t>(shots.size()) * steps_ * substeps_;
  finish_timings();
  return result;
}

void Propagator::Impl::require_gradient(const GradientOptions& options) const {
  if (options_.storage == Storage::none) {
    throw UserError(
        "a gradient needs what the forward run kept, and its storage is off (memory mode none): "
        "take full");
  }
  for (const std::string& name : options.parameters) static_cast<void>(find_parameter(name));
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
    fresh->compilation = passes::compile_adjoint(equation_, pipeline(), unscaled);
    machine_.ready();
    if (!machine_.reference()) {
      StepSource keep = machine_.source(fresh->compilation.forward, domain_, fresh->least_halo());
      StepSource step = machine_.source(fresh->compilation.backward, domain_, fresh->least_halo());
      auto back = std::async(std::launch::async, [&] { return machine_.compile(std::move(step)); });
      fresh->keep_kernels = machine_.compile(std::move(keep));
      fresh->back_kernels = back.get();
    }
    timings_.compile = since(begin);
    timings_.compiled = fresh->keep_kernels.compiled();
    timings_.tuning = machine_.tuning_seconds();
    adjoint_ = std::move(fresh);
  }
  Adjoint& own = *adjoint_;
  own.require_room(domain_);
  if (!own.keep) {
    loop::EngineSetup setup = engine_setup();
    setup.least_halo = own.least_halo();
    own.history.reset();  // it is of the device that goes
    renew_device();
    auto keep = machine_.make_engine(own.compilation.forward, setup, device_.get(), own.keep_kernels);
    own.back = machine_.make_engine(own.compilation.backward, setup, device_.get(), own.back_kernels);
    own.keep = std::move(keep);
  }
  if (own.models != models_version_) {
    own.models = -1;
    own.require_divisors(domain_, loop::Sensitivity(domain_, engine_setup().symbols, models_));
    own.keep->set_models(models_);
    own.back->set_models(models_);
    own.models = models_version_;
  }
  if (!own.history || own.steps != steps_ * substeps_) {
    own.history.reset();  // before there is room for another
    own.steps = steps_ * substeps_;
    own.history = own.keep->make_history(own.compilation.adjoint.saves, own.steps + 1);
  }
}

std::map<std::string, Traces> Propagator::Impl::run_keeping(const Shot& shot, std::int64_t number,
                                                            std::vector<std::vector<double>>& slopes) {
  TraceRecorder recorder(shot, steps_);
  Adjoint& own = *adjoint_;
  own.keep->bind(*own.history, 0);
  start_shot(*own.keep);
  if (start_ || !initial_.empty()) own.keep_start();
  own.keep->keep(*own.history, 0);
  slopes.assign(own.receivers - shot.receivers.size(),
                std::vector<double>(static_cast<std::size_t>(steps_), 0.0));
  const std::int64_t first = step_now_, stride = own.keep->stride();
  loop::Watch watch = watch_of(recorder, own.receivers, number, first);
  watch.samples = [&](std::int64_t step, std::span<const double> samples) {
    const std::int64_t n = step / substeps_ - first;
    recorder.put(n, samples);
    for (std::size_t k = 0; k < slopes.size(); ++k)
      slopes[k][static_cast<std::size_t>(n)] = samples[shot.receivers.size() + k];
  };
  for (std::int64_t n = 0; n < steps_;) {
    if (options_.cancel && options_.cancel())
      throw Cancelled(fmt::format("cancelled at step {} of shot {}", first + n, number));
    const std::int64_t next = std::min(steps_, n + stride);
    own.keep->steps((first + n) * substeps_, (next - n) * substeps_, substeps_, watch,
                    {own.history.get(), n * substeps_ + 1, 1, true});
    step_now_ = first + next;
    tell(number, next, 2 * steps_, stride > 1);
    if (next % guard_interval == 0 || next == steps_ || stride > 1)
      own.keep->watch_magnitude(first + next, watch);
    n = next;
  }
  own.keep->finish(watch);
  return recorder.take();
}

void Propagator::Impl::run_back(const Shot& shot, std::int64_t number, const ShotPoints& points,
                                const AdjointSources& sources, const loop::Sensitivity& sensitivity,
                                const GradientOptions& options, Gradient& result,
                                loop::ModelGradient& models) {
  Adjoint& own = *adjoint_;
  AdjointPoints back(own.compilation.adjoint, domain_, sensitivity, shot, points, substeps_);
  own.back->clear(number == 0);  // sums go on over the shots
  std::vector<ir::PointReceiver> taps = back.taps();
  loop::Watch watch;
  watch.receivers = taps.size();
  own.back->set_points(back.residuals(sources, steps_), std::move(taps));
  const std::int64_t last = own.steps - 1;
  const std::int64_t first = (start_ ? start_->step : 0) * substeps_;
  watch.samples = [&](std::int64_t j, std::span<const double> found) {
    back.collect(first + last - j, found);
  };
  watch.magnitude = [&](std::int64_t done, double size) {
    require_bounded(number, (last + 1 - done) / substeps_ + 1, size);
  };
  const std::int64_t stride = own.back->stride();
  for (std::int64_t j = 0; j <= last;) {
    if (options_.cancel && j % substeps_ == 0 && options_.cancel())
      throw Cancelled(
          fmt::format("cancelled on the way back at step {} of shot {}", (last - j) / substeps_, number));
    const std::int64_t next = std::min(last + 1, j + (stride > 1 ? stride * substeps_ : 1));
    own.back->steps(j, next - j, 1, watch, {own.history.get(), last - j + 1, -1, false});
    if (next % substeps_ == 0) tell(number, steps_ + next / substeps_, 2 * steps_, stride > 1);
    if (next % guard_interval == 0 || next > last || stride > 1) own.back->watch_magnitude(next, watch);
    j = next;
  }
  own.back->finish(watch);
  if (options.wavelets) result.wavelets.push_back(back.wavelets());
  back.strengths(models);
  own.take_injected(back);
  own.take_start();
  if (options.initial) gather_initial(sensitivity, result);
  if (options.illumination) own.add_illumination(domain_, result.illumination);
}

void Propagator::Impl::gather_models(const loop::Sensitivity& sensitivity,
                                     loop::ModelGradient& models) const {
  const Adjoint& own = *adjoint_;
  const ir::Program& back = own.compilation.adjoint.program;
  const ir::Program& forward = own.compilation.adjoint.forward;
  for (const ir::CoefficientGradient& gradient : own.compilation.adjoint.gradients) {
    const auto fields = fields_of(forward, gradient.of);
    // Without surfaces there is nothing to choose, and half of the arithmetic.
    const auto plain = [&](ir::Expr e) {
      return domain_.has_free_surface() ? e : passes::medium(*back.pool, e);
    };
    const ir::Expr coefficient = plain(gradient.coefficient);
    std::vector<std::pair<ir::Expr, std::string>> terms = gradient.value.terms;
    for (auto& [factor, accumulator] : terms) factor = plain(factor);
    const auto started = gradient.start ? own.start_sums.find(gradient.start->field) : own.start_sums.end();
    const bool starts = started != own.start_sums.end();
    const ir::Expr start_factor = starts ? plain(gradient.start->factor) : ir::Expr();
    const auto slab = [&](const ir::Box& box) {
      std::vector<std::unique_ptr<loop::ValueRows>> factors;
      for (const auto& [factor, accumulator] : terms) factors.push_back(sensitivity.rows(factor, box));
      const auto start_factors = starts ? sensitivity.rows(start_factor, box) : nullptr;
      const auto cotangents = [&](const ir::Extents& index, std::span<double> row) {
        std::fill(row.begin(), row.end(), 0.0);
        for (std::size_t t = 0; t < terms.size(); ++t) {
          const std::vector<double> sums =
              own.back->values(terms[t].second, row_from(domain_, index, row.size()));
          if (std::all_of(sums.begin(), sums.end(), [](double s) { return s == 0; })) continue;
          const std::span<const double> factor = factors[t]->values(index, row.size());
          for (std::size_t k = 0; k < row.size(); ++k) row[k] += sums[k] == 0 ? 0 : factor[k] * sums[k];
        }
        if (starts) {
          const double* const sums = started->second.data() + flat_of(domain_, index);
          const std::span<const double> factor = start_factors->values(index, row.size());
          for (std::size_t k = 0; k < row.size(); ++k) row[k] += sums[k] == 0 ? 0 : factor[k] * sums[k];
        }
        each_face_entry(domain_, index, row.size(), [&](const ir::Extents& entry, std::size_t k) {
          row[k] *= node_weight(domain_, fields, gradient.stagger, forward.first_order(), entry);
        });
      };
      sensitivity.transpose(coefficient, box, cotangents, models);
    };
    const std::vector<ir::Box> slabs =
        slabs_of(domain_, domain_.live(back.field(gradient.value.terms.front().second)));
    // Neighbouring slabs add to nodes they share: first every other one, then the rest, whatever the threads.
    for (std::size_t first = 0; first < 2; ++first) {
      const auto run = [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t k = begin; k < end; ++k) slab(slabs[static_cast<std::size_t>(2 * k) + first]);
      };
      const auto count = static_cast<std::int64_t>((slabs.size() + 1 - first) / 2);
      if (device_)
        device_->parallel(count, run);
      else
        run(0, count);
    }
    if (!gradient.injected) continue;
    const auto injected = own.injected.find(gradient.of.front());
    if (injected == own.injected.end()) continue;
    for (const auto& [index, sum] : injected->second) {
      const double value = sensitivity.value(coefficient, index);
      if (sum != 0 && value != 0) sensitivity.transpose(coefficient, index, -sum / value, models);
    }
  }
}

/// dJ/df(0) is the adjoint after the last step back; dJ/df(-1) what the recursion would hand on to it.
void Propagator::Impl::gather_initial(const loop::Sensitivity& sensitivity, Gradient& result) const {
  const Adjoint& own = *adjoint_;
  const ir::Program& forward = own.compilation.adjoint.forward;
  for (const ir::AdjointVariable& variable : own.compilation.adjoint.variables) {
    const ir::Field& field = forward.field(variable.field);
    const ir::Box box = domain_.live(field);
    for (int level = 0; level >= (field.time_order == 2 ? -1 : 0); --level) {
      std::vector<double> padded(static_cast<std::size_t>(domain_.points()), 0.0);
      for (const auto& [factor, state] : variable.value.terms) {
        const std::vector<double> values = own.back->field(state, level);
        const std::vector<double> factors = sensitivity.values(factor, box);
        each_entry(box, [&](const ir::Extents& index, std::size_t i) {
          const auto flat = static_cast<std::size_t>(flat_of(domain_, index));
          const double weight = node_weight(domain_, {&field}, field.stagger, forward.first_order(), index);
          if (values[flat] != 0)
            padded[flat] += (level < 0 ? variable.previous : 1) * weight * factors[i] * values[flat];
        });
      }
      const std::vector<double> nodes = cropped(padded);
      std::vector<double>& into = result.initial[level < 0 ? field.name + ".previous" : field.name];
      into.resize(nodes.size(), 0.0);
      for (std::size_t i = 0; i < nodes.size(); ++i) into[i] += nodes[i];
    }
  }
}

}  // namespace ondula
