// The inside of a Propagator: what its parts (models, checks, estimate, loop over shots) share.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cfenv>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "compiler/passes/pipeline.hpp"
#include "runtime/floating_point.hpp"
#include "runtime/loop/engine.hpp"
#include "runtime/loop/sensitivity.hpp"
#include "runtime/machine.hpp"
#include "runtime/point_bytes.hpp"
#include "runtime/propagator.hpp"
#include "runtime/shot_points.hpp"
#include "runtime/stability.hpp"
#include "runtime/storage/blob_medium.hpp"
#include "runtime/storage/schedule.hpp"
#include "runtime/trace_recorder.hpp"

namespace ondula {

/// Seconds of the monotonic clock.
using Clock = std::chrono::steady_clock;
inline double since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// Automatic steps keep this distance from the limit; a given number of substeps may go up to the limit
/// itself.
inline constexpr double automatic_share = 0.95;
inline constexpr int most_substeps = 16;

/// Fields are checked for NaN and growth this often; a step is stopped within twice as many.
inline constexpr std::int64_t guard_interval = 50;

class Propagator::Impl {
 public:
  Impl(const EquationDefinition& equation, const PropagatorOptions& options);
  ~Impl();
  /// Checks the grid and compiles.
  void open(const Grid& grid);
  /// Runs `body` as one call of the public interface: in the default floating-point state, the caller's being
  /// put back at the end, and with no exception leaving but Ondula's own and what a callback threw.
  template <class F>
  auto call(const F& body) const;

  void compile();
  void set_model(const std::string& name, std::span<const double> values);
  void set_model(const std::string& name, double value);
  void set_initial(const std::string& name, std::span<const double> values);
  /// Null where there is none.
  device::Device* sound_device() const;
  /// Of the grid's shape.
  std::vector<double> read_nodes(const std::string& what, const ConstArrayView& from);
  std::vector<double> read(const std::string& what, const ConstArrayView& from);
  void write(const std::string& what, std::span<const double> values, const ArrayView& to);
  std::shared_ptr<const State::Data> state() const;
  void set_state(std::shared_ptr<const State::Data> state);
  Records forward(std::span<const Shot> shots, std::optional<std::int64_t> steps);
  Gradient gradient(std::span<const Shot> shots, const MisfitFunction& misfit,
                    const GradientOptions& options);
  Gradient gradient(std::span<const Shot> shots, const std::vector<AdjointSources>& adjoint,
                    const GradientOptions& options);
  Records born(std::span<const Shot> shots, const loop::Perturbation& perturbation);
  Gradient gauss_newton(std::span<const Shot> shots, const loop::Perturbation& perturbation,
                        const GradientOptions& options);
  MisfitFunction misfit_outside(const MisfitFunction& misfit) const { return outside(misfit); }
  Estimate estimate(std::span<const Shot> shots) const;
  std::size_t limit_bytes() const;
  void on_step(std::int64_t every, std::function<void(const StepView&)> callback);
  const Timings& timings() const { return timings_; }
  std::vector<LaunchShape> launch_shapes() const;
  std::size_t device_bytes_peak() const { return device_ ? device_->bytes_peak() : 0; }
  TierBytes bytes_peak() const { return {device_bytes_peak(), below_peak_.host, below_peak_.disk}; }
  const std::vector<std::string>& warnings() const { return warnings_; }
  double time_offset(const std::string& field) const;

 private:
  // propagator_calls.cpp
  /// `callback` in the floating-point state of the caller of the present call.
  template <class R, class... A>
  std::function<R(A...)> outside(std::function<R(A...)> callback) const;
  /// Rethrows the exception being handled, as an Error unless a callback threw it.
  [[noreturn]] void rethrow() const;

  // propagator_models.cpp
  const ir::Parameter& find_parameter(const std::string& name) const;
  void require_allowed(const ir::Parameter& parameter, double value, std::int64_t flat) const;
  void require_count(const std::string& what, std::size_t count) const;
  std::pair<std::string, int> initial_name(const std::string& name) const;
  const loop::Models& complete_models() const;
  std::vector<double> padded(std::span<const double> values) const;
  std::vector<double> cropped(const std::vector<double>& values) const;

  // propagator_checks.cpp
  /// Of the models as they are: computed once for each set.
  const Limits& present_limits() const;
  /// Steps per sample: as given, as the first call fixed it, or the least the limit allows.
  int substeps(const Limits& now) const;
  /// Why a run with these limits cannot take its step; empty where it can.
  std::string step_refusal(const Limits& now) const;
  double step() const { return options_.dt / std::max(1, substeps_); }
  /// What the points of each shot take.
  std::vector<PointBytes> points_bytes(std::span<const Shot> shots, int substeps) const;
  /// Host bytes of taps, wavelets and records at their peak over the shots, of which `batch` run at once.
  std::size_t shots_bytes(std::span<const Shot> shots, std::span<const PointBytes> points,
                          std::int64_t batch) const;
  void estimate_gradient(Estimate& e, std::span<const PointBytes> points) const;

  // propagator_batch.cpp
  /// Device bytes of an engine for so many of the shots at once, every `every`-th of whose steps is sampled.
  std::size_t engine_bytes(const passes::Compilation& compilation, int least_halo, std::int64_t batch,
                           int substeps, std::span<const loop::PointCounts> points) const;
  /// What a gradient takes: of the device in all, below it what is kept of steps and states; a slot of the
  /// history and a state, which `device` or what is below has so many of.
  struct GradientBytes {
    std::size_t device = 0, host = 0, disk = 0, history = 0, states = 0, slot = 0, state = 0;
  };
  GradientBytes gradient_bytes(const passes::AdjointCompilation& both, std::int64_t batch, std::int64_t steps,
                               int substeps, std::span<const loop::PointCounts> ahead,
                               std::span<const loop::PointCounts> back) const;
  /// What the two engines of a gradient have of a shot.
  static std::pair<loop::PointCounts, loop::PointCounts> both_ways(const ir::Adjoint& adjoint,
                                                                   const ShotCounts& shot);
  /// Adds to the present call's counts what a tangent's step, or a gradient, has besides.
  void count_tangents();
  void count_way_back();
  /// Throws device::NoRoom where the device has none for the points of so many shots at once, of both
  /// directions of a gradient.
  void require_room_for_points(std::int64_t batch) const;
  /// How many of the shots of a call to run at once; `bytes` of the device for so many.
  std::int64_t choose_batch(std::size_t shots, const std::function<std::size_t(std::int64_t)>& bytes) const;
  /// The bytes that a call may take of the device; `chosen`: the number of shots is our choice.
  std::size_t device_room(bool chosen) const;
  /// Whether engines of `held` shots, left by an earlier call, have to give way to smaller ones for `batch`.
  bool too_large(std::int64_t held, std::int64_t batch,
                 const std::function<std::size_t(std::int64_t)>& bytes) const;
  /// The same for a run of one engine with the present call's points.
  std::int64_t batch_of(const passes::Compilation& compilation, int least_halo) const;
  /// All shots of a call, `batch` at once, with the points that `points_of_shot` gives.
  Records run_shots(loop::Engine& engine, std::span<const Shot> shots, std::int64_t batch,
                    Clock::time_point entry, const std::function<ShotPoints(std::int64_t)>& points_of_shot);
  ShotPoints points_of(std::span<const Shot> shots, std::int64_t number, bool slopes = false) const;

  // propagator.cpp
  void compile_kernels();
  /// Every check of a call that runs `shots` for `steps` samples, and its beginning.
  /// With `slopes` those of points are counted as well.
  Limits begin_run(std::span<const Shot> shots, std::optional<std::int64_t> steps, bool slopes = false);
  passes::PipelineOptions pipeline() const;
  /// r, c_max and f_c are fixed by the first call (numerics.md, Time).
  void ready_engine(const Speeds& now, std::span<const Shot> shots, std::int64_t batch);
  void fix_layer(const Speeds& now, std::span<const Shot> shots);
  loop::EngineSetup engine_setup(std::int64_t batch = 1) const;
  /// A device with nothing on it; engines of the one before must be gone.
  void renew_device();
  /// Gives up what is on a device that an error has left in doubt.
  void leave_unsound_device();

  // propagator_gradient.cpp
  struct Adjoint;
  void require_gradient(const GradientOptions& options) const;
  /// Adjoints in media where coefficients vanish are wanted (numerics.md, Gradient).
  bool needs_unscaled(const GradientOptions& options) const;
  /// Kernels, then engines and a history for so many shots at once.
  void ready_adjoint(const GradientOptions& options);
  void ready_adjoint_engines(std::int64_t batch);
  /// Shots that run at once, from number `first` of the call on.
  struct GradientBatch;
  Records run_keeping(GradientBatch& batch);
  void run_back(GradientBatch& batch, const loop::Sensitivity& sensitivity, const GradientOptions& options,
                Gradient& result, loop::ModelGradient& models);
  void add_slopes(const GradientBatch& batch, std::size_t shot, const loop::Sensitivity& sensitivity,
                  loop::ModelGradient& models) const;

  // propagator_stretches.cpp
  /// Takes the schedule's actions up to its first reverse, or from there to its end: a shot's way there or
  /// back. `ahead` and `back` are told of the engines' steps.
  void go_ahead(GradientBatch& batch, const loop::Watch& ahead);
  void go_back(GradientBatch& batch, const loop::Watch& back);
  /// Any action but a reverse.
  void act(GradientBatch& batch, const storage::Action& action, const loop::Watch& watch);
  void run_stretch(GradientBatch& batch, const storage::Action& action, const loop::Watch& watch);
  void undo_stretch(GradientBatch& batch, const storage::Action& action, const loop::Watch& watch);
  /// What the plan's schedule of so many samples takes.
  storage::Cost storage_cost(std::int64_t steps, int substeps) const {
    return storage::predict(options_.storage.checkpoints, steps,
                            storage::revolve_stretch(options_.storage.checkpoints.count, substeps));
  }
  /// The sample a shot starts from, since t0.
  std::int64_t first_sample() const;
  /// Magnitudes of a batch's shots, as steps or samples are told to it.
  std::function<void(std::int64_t, std::span<const double>)> bounded(const GradientBatch& batch) const;

  // propagator_gather.cpp
  void gather_models(const loop::Sensitivity& sensitivity, loop::ModelGradient& models) const;
  void gather_initial(const loop::Sensitivity& sensitivity, Gradient& result) const;

  // propagator_born.cpp
  struct Born;
  /// The perturbation with an array of nodes for each of its parameters, uniform ones included.
  loop::Perturbation whole_perturbation(const loop::Perturbation& given) const;
  /// The one value of a uniform parameter, given alone or for every node.
  double one_of_all(const std::string& what, std::span<const double> values) const;
  void ready_born(const loop::Perturbation& perturbation);
  void release_born();

  // propagator_state.cpp
  void describe(State::Data& data) const;
  /// Throws UserError where the state that shots start from was made with other substeps.
  void require_start(int substeps) const;
  /// Fields as a shot of this call finds them.
  void start_shot(loop::Engine& engine);

  // propagator_run.cpp
  bool calls_back() const { return callback_ && every_ > 0; }
  /// Runs shots at once whose points the engine has, from number `first` of the call on. Callbacks are called
  /// for the forward run's engine only.
  Records run_batch(loop::Engine& engine, std::span<const Shot> shots, std::int64_t first,
                    Clock::time_point begin);
  /// The seconds it took.
  double call_back(std::int64_t shot, std::int64_t step);
  /// Throws RuntimeError where `size` is no magnitude of a field after `step` samples.
  void require_bounded(std::int64_t shot, std::int64_t step, double size) const;
  /// Puts samples into `recorder`, whose first is sample `first` since t0, and looks at magnitudes of the
  /// shots from `shot` on.
  loop::Watch watch_of(BatchRecorder& recorder, std::int64_t shot, std::int64_t first) const;
  /// "shot 3", "shots 3 to 6".
  static std::string shots_text(std::int64_t first, std::size_t count);
  void finish_timings();
  /// Tells options_.progress, now and then or always, that `step` of `steps` are done in `count` shots from
  /// `shot` on: as many steps of one after the other.
  void tell(std::int64_t shot, std::size_t count, std::int64_t step, std::int64_t steps, bool always) const;

  mutable const std::fenv_t* caller_ = nullptr;  ///< of the present call
  mutable bool foreign_ = false;                 ///< the exception on its way is a callback's
  Grid grid_;
  PropagatorOptions options_;
  ir::Domain domain_;
  passes::Compilation compilation_;
  Machine machine_;
  StepKernels kernels_;
  std::unique_ptr<device::Device> device_;
  std::unique_ptr<loop::Engine> engine_;
  std::int64_t engine_shots_ = 1;        ///< that it runs at once, at most
  std::vector<ShotCounts> shot_counts_;  ///< of each shot of the present call
  /// What its engine has of each shot, and in a gradient that of the way back.
  std::vector<loop::PointCounts> counts_, counts_back_;
  std::unique_ptr<Adjoint> adjoint_;  ///< what gradients need; engines of other calls give way to its own
  std::unique_ptr<Born> born_;        ///< likewise what linearised modelling needs
  EquationDefinition equation_;
  std::optional<ir::LayerOptions> layer_;  ///< fixed by the first call
  loop::Models models_;
  bool models_changed_ = true;
  std::int64_t models_version_ = 0;
  mutable std::optional<Limits> limits_;  ///< unset where a model has changed
  int substeps_ = 0;                      ///< r; 0 until the first call fixes it
  bool frequency_open_ = false;           ///< f_c waits for the first call with sources
  std::map<std::pair<std::string, int>, std::vector<double>> initial_;
  std::shared_ptr<const State::Data> start_;  ///< of every shot; null: t0
  std::int64_t steps_ = 0;                    ///< samples of the present call
  std::int64_t shots_ = 0;                    ///< of the present call
  std::int64_t step_now_ = 0;                 ///< samples taken since t0 by the shot that runs or ran last
  bool state_known_ = false;                  ///< the engine holds the fields of a shot
  std::int64_t every_ = 0;
  std::function<void(const StepView&)> callback_;
  Timings timings_;
  storage::BlobBytes below_peak_;  ///< of what gradients kept off the device
  std::vector<std::string> warnings_;
};

template <class F>
auto Propagator::Impl::call(const F& body) const {
  const DefaultFloatingPoint here;
  // Calls nest where a callback makes one.
  struct Present {
    const std::fenv_t*& present;
    const std::fenv_t* before;
    ~Present() { present = before; }
  } const present{caller_, std::exchange(caller_, &here.caller())};
  foreign_ = false;
  try {
    return body();
  } catch (...) {
    rethrow();
  }
}

template <class R, class... A>
std::function<R(A...)> Propagator::Impl::outside(std::function<R(A...)> callback) const {
  if (!callback) return {};
  return [this, callback = std::move(callback)](A... arguments) -> R {
    if (caller_ == nullptr) return callback(std::forward<A>(arguments)...);
    const GivenFloatingPoint given(*caller_);
    try {
      return callback(std::forward<A>(arguments)...);
    } catch (...) {
      foreign_ = true;
      throw;
    }
  };
}

}  // namespace ondula
