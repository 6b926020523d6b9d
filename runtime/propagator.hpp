// The Propagator: an equation on a grid, compiled, ready to run shots.
// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "compiler/dsl/definition.hpp"
#include "compiler/error.hpp"
#include "compiler/export.hpp"
#include "runtime/array_view.hpp"
#include "runtime/gradient.hpp"
#include "runtime/jit/cache_options.hpp"
#include "runtime/state.hpp"
#include "runtime/storage/storage_plan.hpp"
#include "runtime/types.hpp"

namespace ondula {

namespace jit {
class CudaCompiler;
class HostCompiler;
}  // namespace jit

namespace loop {
class CudaTuner;
}  // namespace loop

namespace storage {
class FileOperations;
}  // namespace storage

/// The run was cancelled by the caller's `cancel`.
class ONDULA_API Cancelled : public Error {
 public:
  using Error::Error;
};

/// How far a call is.
struct Progress {
  std::int64_t shot = 0, shots = 0;
  std::int64_t step = 0, steps = 0;
};

/// Everything of a run besides equation, grid and shots.
struct PropagatorOptions {
  double t0 = 0;                ///< s
  double dt = 0;                ///< s, > 0: the sampling of wavelets and records
  std::int64_t steps = 0;       ///< samples of the record, >= 0
  std::optional<int> substeps;  ///< unset: automatic (numerics.md, Substeps)
  int order = 8;
  DType dtype = DType::float32;
  Backend backend = Backend::host;
  Absorb absorb;
  StoragePlan storage;  ///< what a gradient's forward run keeps, and where
  /// For tests: the calls on scratch files; null: the system's.
  std::shared_ptr<storage::FileOperations> scratch_files;
  int threads = 0;  ///< 0: one per core
  jit::CacheOptions cache;
  /// Shared by propagators of one process so that each text is compiled, and each failure found, once; unset:
  /// one of its own, over `cache`.
  std::shared_ptr<jit::HostCompiler> compiler;
  /// The same for the backends cuda and cuda-sim.
  std::shared_ptr<jit::CudaCompiler> cuda_compiler;
  int device = 0;  ///< which CUDA device
  /// Shots that a CUDA device runs at once, in the same launches and over the same model, at most; 0: as many
  /// as fill the device and fit in its memory. Decides no bit of any result. With a callback of on_step shots
  /// run one by one.
  int shot_batch = 0;
  /// The caller's CUDA context (a CUcontext of the device) that everything is in, and that stays the
  /// caller's; null: the device's primary context. It must outlive the Propagator.
  void* context = nullptr;
  /// The caller's CUDA stream (a CUstream of that context), in whose order all kernels run; null: one of its
  /// own.
  void* stream = nullptr;
  /// Backend cuda: before kernels run the first time on a device and a class of grids, shapes of their blocks
  /// are timed there, and the fastest recorded in the cache. Records are used whether this is set or not.
  bool tune = false;
  /// What chooses the shapes; unset: one of its own, and on cuda-sim, whose times tell nothing, none.
  std::shared_ptr<loop::CudaTuner> cuda_tuner;
  std::function<void(const std::string&)> log;  ///< warnings; unset: dropped
  /// Polled every step, on CUDA devices every 48 samples; true throws Cancelled.
  std::function<bool()> cancel;
  std::function<void(const Progress&)> progress;  ///< called now and then
  /// Most bytes the device may hold, 0: what there is. A run that would need more throws RuntimeError.
  std::size_t device_bytes_limit = 0;
  bool poison = false;         ///< fresh device memory is NaN (tests)
  bool compile_later = false;  ///< the constructor compiles nothing: compile() or forward() does
};

/// What a run will need and where its limits are; nothing is run or allocated.
struct Estimate {
  double cfl_limit = 0;  ///< s
  double dt = 0;         ///< s, the step after substeps
  int substeps = 1;
  double fastest = 0, slowest = 0;  ///< m/s
  std::vector<std::int64_t> fastest_cell;
  std::vector<std::int64_t> limit_cell;  ///< the cell that sets the limit
  double points_per_wavelength =
      0;  ///< at the frequency where the wavelets' spectrum falls below 1 % of its peak; 0: unknown
  std::int64_t points = 0;  ///< physical
  std::int64_t padded_points = 0;
  std::int64_t shots_at_once = 1;  ///< see PropagatorOptions::shot_batch
  std::size_t device_bytes = 0;    ///< the device allocator's peak
  /// The host's peak: models with records and taps, or with the working memory of the stability limit, which
  /// is found before the first step; the device's own memory is not counted here.
  std::size_t host_bytes = 0;
  /// Of the host's memory in a first call: with the device's own, unless that is a GPU's.
  std::size_t peak_bytes = 0;
  /// Of a gradient instead, with PropagatorOptions::storage: the device allocator's peak. 0 where the
  /// equation has no adjoint, as `gradient_refusal` says.
  std::size_t gradient_device_bytes = 0;
  std::int64_t gradient_shots_at_once = 1;
  /// Of a gradient, below the device: what StoragePlan puts there, and what is on its way to it.
  std::size_t gradient_host_bytes = 0, gradient_disk_bytes = 0;
  std::size_t history_bytes = 0;     ///< of the steps of a stretch, on the tier that they lie on
  std::size_t checkpoint_bytes = 0;  ///< of states, on theirs
  std::size_t step_bytes = 0;        ///< kept of one step: the save set's or the ring's
  std::size_t state_bytes = 0;       ///< of one checkpoint
  std::int64_t steps_again = 0;      ///< that a shot's checkpoints have run again, substeps counted
  std::string gradient_refusal;
  double work_bytes_per_point = 0;  ///< least memory traffic of a padded point and step
  std::string refusal;              ///< why forward would refuse the step; empty where it would not
};

/// Measured while running.
struct Timings {
  double compile = 0;        ///< s, of the constructor's compile or load
  bool compiled = false;     ///< false: the kernels came from the cache
  double tuning = 0;         ///< s, of all compiling so far, spent on measuring launch shapes
  double first = 0;          ///< s, of set-up and the first step: memory, coefficients, taps
  double steady = 0;         ///< s, of the other steps, callbacks and later shots' set-up left out
  std::int64_t steps = 0;    ///< counted in `steady`, over all shots
  double gpoints_per_s = 0;  ///< physical
  /// Of a gradient: its forward runs, its backward runs, and the chain rule from coefficients to models, s.
  double keeping = 0, backward = 0, chain = 0;
  std::int64_t steps_again = 0;  ///< that its backward runs ran again from checkpoints, over all shots
  double padded_gpoints_per_s = 0;
};

/// How a CUDA kernel is cut into blocks.
struct LaunchShape {
  std::string kernel;
  std::string shape;      ///< "march 32x16, 2 blocks, strips of 4"; docs/cuda.md says what it means
  bool recorded = false;  ///< by the tuner's record; else the table's
};

/// A look at a run between two steps.
struct StepView {
  std::int64_t shot = 0;
  std::int64_t step = 0;  ///< fields are at t0 + step*dt (half-step fields half a step before)
  double time = 0;        ///< s
  /// Values of a field on the model's grid (layers cut off), C order.
  std::function<std::vector<double>(const std::string&)> field;
};

/// For PropagatorOptions::compiler: what propagators of one process share so that each text is compiled once.
/// `log` gets warnings, from any thread that compiles. Throws UserError where ONDULA_CACHE_LIMIT or
/// ONDULA_CPU_FEATURES is wrong.
ONDULA_API std::shared_ptr<jit::HostCompiler> make_compiler(const jit::CacheOptions& cache = {},
                                                            jit::Log log = {});

/// Owns kernels, device memory and models. Not thread-safe; different Propagators may run in different
/// threads. Calls compute in the default floating-point environment and leave the caller's as found;
/// callbacks run in the caller's. Besides the errors named, any call throws RuntimeError where memory ends,
/// and what a callback throws passes through; the object stays usable. One that was moved from throws
/// UserError.
class ONDULA_API Propagator {
 public:
  /// Compiles or loads the kernels. Throws UserError for a grid, order or option that cannot be,
  /// CompileError.
  Propagator(const EquationDefinition& equation, const Grid& grid, const PropagatorOptions& options);
  ~Propagator();
  Propagator(Propagator&&) noexcept;
  Propagator& operator=(Propagator&&) noexcept;

  /// Compiles or loads the kernels where that is still to do. Throws CompileError.
  void compile();

  /// A parameter's values on the grid's nodes (C order), or one value everywhere, in the equation's unit.
  /// Throws UserError for an unknown name, a wrong count, or a value the parameter cannot take (naming its
  /// index).
  void set_model(const std::string& name, std::span<const double> values);
  void set_model(const std::string& name, double value);
  /// The same from the caller's memory, in the grid's shape. Device memory is read in the order of
  /// PropagatorOptions::stream, without one after all work its context was given; the call returns when it
  /// has been. Throws UserError too for another shape, a null pointer, an address that is not what it is said
  /// to be.
  void set_model(const std::string& name, const ConstArrayView& values);

  /// Initial state of every shot: "u" at t0 and "u.previous" at t0 - dt, on the grid's nodes.
  void set_initial(const std::string& name, std::span<const double> values);
  void set_initial(const std::string& name, const ConstArrayView& values);
  /// The state the last call left: after its last shot's last step, or where it was cancelled or failed.
  /// Empty before the first. Fields are named as in set_initial.
  State state() const;
  /// Every shot of the calls that follow starts from `state`, at its step, instead of t0: a run in chunks is
  /// bit for bit the whole one. An empty state: from t0 again. Throws UserError for the state of another
  /// equation, grid, order, type or backend.
  void set_state(const State& state);

  /// Models the shots. Throws UserError (limit passed, position outside, unknown field), RuntimeError
  /// (memory, a field that is no longer finite), Cancelled. The object stays usable after any of them.
  Records forward(std::span<const Shot> shots);
  /// The same for `steps` samples (0 or more) instead of the options' number: a chunk. Wavelets keep their
  /// time, which starts at t0.
  Records forward(std::span<const Shot> shots, std::int64_t steps);

  /// Models the shots, keeping what the way back needs, then runs the adjoint: derivatives of the sum over
  /// shots of the misfits that `misfit` gives for their records. Throws UserError as forward does, and for a
  /// parameter the equation does not have, storage that is off, a derivative of another shape than the
  /// records, an equation without an adjoint. state() is empty afterwards; on_step's callback is not called.
  Gradient gradient(std::span<const Shot> shots, const MisfitFunction& misfit,
                    const GradientOptions& options = {});
  /// The same where dJ/drecords is known beforehand, shot by shot: the transpose of the linearised modelling,
  /// applied to it. The misfits given are the sums of the products of records and `adjoint`.
  Gradient gradient(std::span<const Shot> shots, const std::vector<AdjointSources>& adjoint,
                    const GradientOptions& options = {});

  /// Linearised modelling: the records' derivative along `perturbation` (values at the grid's nodes, C order,
  /// in the parameters' units; parameters that are left out do not change), exact for the discrete scheme;
  /// the transpose of `gradient`. Wavelets and the initial state stay as they are; nothing is kept of the
  /// steps. Throws UserError as forward does, and for a parameter the equation does not have, a wrong count,
  /// a value that is not finite. Callbacks of on_step are not called; state() is empty afterwards.
  Records born(std::span<const Shot> shots, const std::map<std::string, std::vector<double>>& perturbation);
  /// The Gauss-Newton Hessian of half the sum of squares of all records, times `perturbation`: `gradient`
  /// applied to the records of `born`. `models` of the result holds it; its misfits are the sums of the
  /// products of those records with the forward run's. Throws as both do.
  Gradient gauss_newton(std::span<const Shot> shots,
                        const std::map<std::string, std::vector<double>>& perturbation,
                        const GradientOptions& options = {});

  /// The values of a caller's array, C order: of adjoint sources, wavelets or perturbations, say. Reads as
  /// set_model does.
  std::vector<double> read(const ConstArrayView& from);
  /// Puts `values` (C order: of records, of gradients) into a caller's array, rounded to its type. On a
  /// device in the order of PropagatorOptions::stream; without one they are there when the call returns.
  /// Throws UserError as set_model does, and where elements of the array share places or, on a device, no
  /// axis has stride 1.
  void write(std::span<const double> values, const ArrayView& to);

  /// Calls `callback` at step 0, every, 2 every, ... of each shot, before that step's update; 0 removes it.
  void on_step(std::int64_t every, std::function<void(const StepView&)> callback);

  /// Limits and bytes for these shots. Throws UserError as forward does, except that a passed limit is
  /// reported.
  Estimate estimate(std::span<const Shot> shots) const;
  /// Host bytes that finding the stability limit takes, in `estimate` as in `forward`: a large model that
  /// varies may want a look at them first.
  std::size_t limit_bytes() const;
  const Timings& timings() const;
  /// Of the CUDA kernels that calls have compiled by now, in the order of a step; empty on other backends.
  std::vector<LaunchShape> launch_shapes() const;
  /// Bytes the device's allocator holds at most so far.
  std::size_t device_bytes_peak() const;
  /// The same, with the most that gradients kept on the host and on disk.
  TierBytes bytes_peak() const;
  /// Seconds a field's samples lie before the record's times (half a step for half-step fields).
  /// Throws UserError for a field that cannot be recorded.
  double time_offset(const std::string& field) const;
  const std::vector<std::string>& warnings() const;

 private:
  class ONDULA_HIDDEN Impl;
  ONDULA_HIDDEN Impl& impl();
  ONDULA_HIDDEN const Impl& impl() const;
  std::unique_ptr<Impl> impl_;
};

/// The numbers of an equation that a caller may name.
struct EquationFacts {
  std::vector<std::string> parameters, sources, fields, initial;
  std::map<std::string, std::string> units;  ///< of parameters, fields and what else can be recorded
  std::vector<std::string> derived;  ///< recorded as combinations of fields: "pressure", "e.xx", "fibre"
  std::vector<std::string> forces, moments;  ///< vector and tensor fields that take a force, a moment rate
};
ONDULA_API EquationFacts facts(const EquationDefinition& equation, const std::vector<std::string>& axes);

}  // namespace ondula
