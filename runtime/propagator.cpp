// Propagator: compilation, and the loop over shots.
// SPDX-License-Identifier: MIT
#include "runtime/propagator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compiler/error.hpp"
#include "compiler/passes/surface.hpp"
#include "runtime/backend.hpp"
#include "runtime/domain.hpp"
#include "runtime/io/wavelet.hpp"
#include "runtime/propagator_adjoint.hpp"
#include "runtime/propagator_impl.hpp"
#include "runtime/propagator_tangent.hpp"
#include "runtime/receivers.hpp"
#include "runtime/shot_batch.hpp"

namespace ondula {
namespace {

void require_options(const PropagatorOptions& o) {
  if (o.device != 0 && !runs_cuda(o.backend)) {
    throw UserError(fmt::format("device {} belongs to the backends cuda and cuda-sim; the backend is {}",
                                o.device, backend_name(o.backend)));
  }
  if (o.shot_batch < 0)
    throw UserError(fmt::format("shot_batch = {}: it must be 0 (automatic) or more", o.shot_batch));
  if (o.tune && !runs_cuda(o.backend)) {
    throw UserError(fmt::format("launch shapes are tuned on the backend cuda; the backend is {}",
                                backend_name(o.backend)));
  }
  if (!(o.dt > 0) || !std::isfinite(o.dt))
    throw UserError(fmt::format("dt = {} s: it must be positive", o.dt));
  if (o.steps < 0) throw UserError(fmt::format("steps = {}: it must be 0 or more", o.steps));
  if (!std::isfinite(o.t0)) throw UserError(fmt::format("t0 = {} s", o.t0));
  if (o.substeps && (*o.substeps < 1 || *o.substeps > most_substeps)) {
    throw UserError(fmt::format("substeps = {}: allowed are 1 to {}", *o.substeps, most_substeps));
  }
  const Absorb& a = o.absorb;
  if (a.frequency && !(*a.frequency >= 0))
    throw UserError(fmt::format("absorb frequency {} Hz: 0 or more", *a.frequency));
  if (a.velocity && !(*a.velocity > 0))
    throw UserError(fmt::format("absorb velocity {} m/s: more than 0", *a.velocity));
  if (a.reflection && !(*a.reflection > 0 && *a.reflection < 1)) {
    throw UserError(fmt::format("absorb reflection {}: between 0 and 1", *a.reflection));
  }
  if (!(a.kappa >= 1)) throw UserError(fmt::format("absorb kappa {}: 1 or more", a.kappa));
}

/// The lowest of the wavelets' spectral peaks; 0 without sources.
double dominant_frequency(std::span<const Shot> shots, const PropagatorOptions& options) {
  double lowest = 0;
  for (const Shot& shot : shots) {
    for (const Source& source : shot.sources) {
      if (source.wavelet.empty()) continue;
      const double f = io::series_facts(source.wavelet, options.t0, options.dt).dominant_frequency;
      if (f > 0 && (lowest == 0 || f < lowest)) lowest = f;
    }
  }
  return lowest;
}

}  // namespace

Propagator::Impl::Impl(const EquationDefinition& equation, const PropagatorOptions& options)
    : options_(options), machine_(options_), equation_(equation) {
  options_.log = outside(options.log);
  options_.cancel = outside(options.cancel);
  options_.progress = outside(options.progress);
}

void Propagator::Impl::open(const Grid& grid) {
  grid_ = grid;
  require_options(options_);
  domain_ = make_domain(grid, options_.order);  // before compiling: a wrong grid need not wait
  const auto begin = Clock::now();
  compilation_ = passes::compile(equation_, pipeline());
  timings_.compile = since(begin);
  passes::require_surface(compilation_.physical, domain_);
  if (!options_.compile_later) compile();
}

void Propagator::Impl::compile() {
  if (!machine_.reference() && !kernels_.ready()) compile_kernels();
}

Limits Propagator::Impl::begin_run(std::span<const Shot> shots, std::optional<std::int64_t> steps,
                                   bool slopes) {
  if (steps && *steps < 0) throw UserError(fmt::format("steps = {}: it must be 0 or more", *steps));
  leave_unsound_device();
  steps_ = steps.value_or(options_.steps);
  shots_ = static_cast<std::int64_t>(shots.size());
  timings_.first = timings_.steady = 0;
  timings_.steps = 0;
  warnings_.clear();
  const Limits now = present_limits();
  const std::string refusal = step_refusal(now);
  if (!refusal.empty()) throw UserError(refusal);
  require_start(substeps(now));
  // Every shot is checked before the first runs; taps are kept for one shot at a time, since off the grid a
  // point has hundreds.
  const auto count = static_cast<std::int64_t>(shots.size());
  counts_.clear();
  counts_back_.clear();
  shot_counts_.clear();
  for (std::int64_t s = 0; s < count; ++s) {
    shot_counts_.push_back(counts_of(points_of(shots, s, slopes)));
    counts_.push_back(shot_counts_.back().points);
  }
  return now;
}

Records Propagator::Impl::forward(std::span<const Shot> shots, std::optional<std::int64_t> steps) {
  const Limits now = begin_run(shots, steps);
  compile();
  const auto entry = Clock::now();
  substeps_ = substeps(now);
  const std::int64_t batch = calls_back() ? 1 : batch_of(compilation_, 0);
  ready_engine(now.speeds, shots, batch);
  return run_shots(*engine_, shots, std::min(batch, engine_shots_), entry,
                   [&](std::int64_t shot) { return points_of(shots, shot); });
}

void Propagator::Impl::on_step(std::int64_t every, std::function<void(const StepView&)> callback) {
  if (every < 0) throw UserError(fmt::format("a callback every {} steps", every));
  every_ = every;
  callback_ = outside(std::move(callback));
}

double Propagator::Impl::time_offset(const std::string& field) const {
  std::vector<std::string> names = derived_receivers(compilation_.physical.fields, grid_.axes);
  for (const ir::Field& f : compilation_.physical.fields) {
    if (f.strip_axis < 0) names.push_back(f.name);
  }
  if (std::find(names.begin(), names.end(), field) == names.end())
    throw UserError(fmt::format("no field {} to record; there are: {}", field, fmt::join(names, ", ")));
  if (!timed_field(compilation_.physical, field).half_step) return 0.0;
  const bool fixed = options_.substeps || substeps_ > 0;
  return -0.5 * options_.dt / (fixed ? substeps(Limits{}) : substeps(present_limits()));
}

void Propagator::Impl::compile_kernels() {
  const auto begin = Clock::now();
  machine_.ready();
  kernels_ = machine_.compile(compilation_, domain_, 0);
  timings_.compile += since(begin);
  timings_.compiled = kernels_.compiled();
  timings_.tuning = machine_.tuning_seconds();
}

std::vector<LaunchShape> Propagator::Impl::launch_shapes() const {
  std::vector<LaunchShape> shapes;
  kernels_.add_shapes(shapes);
  if (adjoint_) {
    adjoint_->keep_kernels.add_shapes(shapes);
    adjoint_->back_kernels.add_shapes(shapes);
  }
  if (born_) born_->kernels.add_shapes(shapes);
  return shapes;
}

passes::PipelineOptions Propagator::Impl::pipeline() const {
  return {grid_.axes, options_.order, options_.absorb.kappa > 1.0, false, machine_.target()};
}

void Propagator::Impl::fix_layer(const Speeds& now, std::span<const Shot> shots) {
  // A first call without sources knows no frequency; the first that does decides.
  const double dominant = dominant_frequency(shots, options_);
  if (layer_ && !(frequency_open_ && dominant > 0)) return;
  engine_.reset();
  release_born();
  if (adjoint_) adjoint_->release();
  state_known_ = false;
  frequency_open_ = !options_.absorb.frequency && dominant == 0;
  layer_.emplace();
  layer_->dt = step();
  layer_->velocity = options_.absorb.velocity.value_or(now.fastest);
  layer_->frequency = options_.absorb.frequency.value_or(dominant);
  layer_->reflection = options_.absorb.reflection.value_or(0);
  layer_->kappa = options_.absorb.kappa;
}

void Propagator::Impl::ready_engine(const Speeds& now, std::span<const Shot> shots, std::int64_t batch) {
  fix_layer(now, shots);
  const auto bytes = [&](std::int64_t count) {
    return engine_bytes(compilation_, 0, count, substeps_, counts_);
  };
  if (!engine_ || engine_shots_ < batch || too_large(engine_shots_, batch, bytes)) {
    release_born();
    if (adjoint_) adjoint_->release();
    state_known_ = false;
    engine_shots_ = with_room(batch, [&](std::int64_t count) {
      engine_.reset();
      renew_device();
      engine_ = machine_.make_engine(compilation_, engine_setup(count), device_.get(), kernels_);
      require_room_for_points(count);
    });
    models_changed_ = true;
  }
  if (models_changed_) engine_->set_models(models_);
  models_changed_ = false;
}

loop::EngineSetup Propagator::Impl::engine_setup(std::int64_t batch) const {
  loop::EngineSetup setup;
  setup.domain = domain_;
  setup.symbols["dt"] = step();
  for (std::size_t a = 0; a < grid_.axes.size(); ++a) setup.symbols["h_" + grid_.axes[a]] = grid_.spacing[a];
  setup.layer = *layer_;
  setup.dtype = options_.dtype;
  setup.shots = batch;
  return setup;
}

/// The old one goes first: what it meets at its end must not befall the new one.
void Propagator::Impl::renew_device() {
  device_.reset();
  device_ = machine_.make_device();
}

void Propagator::Impl::leave_unsound_device() {
  if (!device_ || device_->sound()) return;
  engine_.reset();
  if (adjoint_) adjoint_->release();
  release_born();
  state_known_ = false;
  models_changed_ = true;
  device_.reset();
}

}  // namespace ondula
