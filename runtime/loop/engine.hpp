// An Engine executes the steps of one shot: compiled kernels on a device, or the reference.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "compiler/ir/adjoint.hpp"
#include "compiler/ir/domain.hpp"
#include "compiler/ir/evaluate.hpp"
#include "compiler/ir/points.hpp"
#include "compiler/passes/pipeline.hpp"
#include "runtime/device/device.hpp"
#include "runtime/jit/host_compiler.hpp"
#include "runtime/loop/model.hpp"
#include "runtime/loop/sensitivity.hpp"
#include "runtime/loop/snapshot.hpp"
#include "runtime/loop/watch.hpp"
#include "runtime/storage/blob_medium.hpp"
#include "runtime/storage/file_operations.hpp"
#include "runtime/storage/storage_plan.hpp"

namespace ondula::loop {

/// Where the slots of a history lie, apart from the few that a step wants on the device.
struct HistoryTier {
  Tier tier = Tier::device;
  std::string scratch;                             ///< as StoragePlan::scratch
  std::shared_ptr<storage::FileOperations> files;  ///< null: the system's
};

class History;

/// The slots of a history that go with the steps of a run, which may be part of a longer one.
struct Kept {
  enum class Way {
    keep,     ///< each step goes into the slot after the one before, and the state after it is kept there
    pass,     ///< nothing is kept: steps go from slot 0 to slot 1 and back
    backward  ///< steps are undone: each one's slot is the one before
  };
  History* history = nullptr;  ///< null: none
  Way way = Way::keep;
  std::int64_t done = 0;    ///< steps of the whole that came before
  std::int64_t length = 0;  ///< steps of the whole; for the way backward only

  /// The slot of the state after step `number` of this run, from 0; on the way backward, of the step undone.
  std::int64_t after(std::int64_t number) const {
    const std::int64_t n = done + number;
    if (way == Way::pass) return 1 - n % 2;
    return way == Way::backward ? length - n : n + 1;
  }
  /// That of the state before it.
  std::int64_t before(std::int64_t number) const {
    return way == Way::pass ? 1 - after(number) : after(number) - 1;
  }
};

/// What a stretch of a run keeps of its steps: slot 0 the state it starts from, slot n + 1 what its step n
/// left. Numbers of slots are taken modulo slots().
class History {
 public:
  virtual ~History() = default;
  virtual std::int64_t slots() const = 0;
  /// What it takes below the device.
  virtual storage::BlobBytes below() const { return {}; }
  /// For steps that come one by one: the next one goes from `before` to `slot`, or undoes that.
  virtual void open(Kept::Way /*way*/, std::int64_t /*before*/, std::int64_t /*slot*/) {}
  /// Makes `slot` the new slot 0: what has been bound stays where it is, by another number.
  virtual void rebase(std::int64_t slot) = 0;
  /// Slot 0 is the first one in memory again, whatever it holds.
  virtual void reset() = 0;
  /// nodes += the squares of all that `slot` keeps, on the model's nodes, C order; half-cell values at the
  /// node before them. What of save s lies outside lives[s] counts as 0. `shot` is the one of the batch.
  virtual void add_squares(const ir::Domain& domain, std::int64_t slot, const std::vector<ir::Box>& lives,
                           std::vector<double>& nodes, std::int64_t shot) = 0;
};

/// The whole present of an engine, of all its shots, in its device's memory.
class HeldState {
 public:
  virtual ~HeldState() = default;
};

/// One shot's sources and receivers.
struct EnginePoints {
  std::vector<ir::PointSource> sources;
  std::vector<ir::PointReceiver> receivers;
};

/// Fields are exchanged as the values of the padded domain (Domain::total per axis), C order, in double. An
/// engine made for several shots takes their steps together: what is set becomes the state of all of them,
/// what is read is that of the shot looked at.
class Engine {
 public:
  virtual ~Engine() = default;
  /// The models from which coefficients follow; before the first shot and whenever they change.
  virtual void set_models(const Models& models) = 0;
  /// What the tangents in the program are taken along, at the models set: to be set again after them.
  virtual void set_perturbation(const Perturbation& perturbation) = 0;
  /// All fields and memory variables to zero; with `sums` the accumulators of an adjoint too.
  virtual void clear(bool sums = true) = 0;
  /// Level 0 is now, -1 the step before (second-order fields); values where the field does not live become 0.
  virtual void set_field(const std::string& name, int level, std::span<const double> values) = 0;
  /// 0 where the field does not live.
  virtual std::vector<double> field(const std::string& name, int level) const = 0;
  /// The sources and receivers of the steps that follow.
  virtual void set_points(std::vector<ir::PointSource> sources, std::vector<ir::PointReceiver> receivers) = 0;
  /// Those of each shot of the steps that follow, 1 up to EngineSetup::shots; samples come shot by shot.
  virtual void set_shots(std::vector<EnginePoints> shots);
  /// Which shot of the batch field(), values() and save() are about, from 0.
  virtual void look_at(std::int64_t /*shot*/) {}
  /// Step n; samples[r] is receiver r's, taken before the update. Empty: nothing is recorded.
  virtual void step(std::int64_t n, std::span<double> samples) = 0;
  /// Steps first to first + count - 1; of first and every `every`-th after it the samples are told. `kept` is
  /// bound before each step.
  virtual void steps(std::int64_t first, std::int64_t count, std::int64_t every, const Watch& watch,
                     const Kept& kept = {});
  /// Tells the magnitudes when `step` steps are done, which they are now.
  virtual void watch_magnitude(std::int64_t step, const Watch& watch);
  /// Tells what is still to be told.
  virtual void finish(const Watch& /*watch*/) {}
  /// How many samples one call of steps() had best take.
  virtual std::int64_t stride() const { return 1; }
  /// Everything the next step depends on, as it is between two steps.
  virtual Snapshot save() const = 0;
  /// Puts back what `save` of an engine of the same kernels, domain and type gave. Throws InternalError for
  /// another's.
  virtual void restore(const Snapshot& snapshot) = 0;
  /// The largest magnitude over all state fields; NaN if any value is not finite.
  virtual double magnitude() const = 0;
  /// A field's values on `box`, C order: in the padded grid's indices, which may lie beyond it within the
  /// halo.
  virtual std::vector<double> values(const std::string& name, const ir::Box& box) const = 0;

  /// Room for `saves` of so many slots, for this engine and that of the adjoint.
  virtual std::unique_ptr<History> make_history(const std::vector<ir::Save>& saves, std::int64_t slots,
                                                const HistoryTier& tier = {}) = 0;
  /// The present, of which fields that are kept where they are written stand in `slot`: to be called before
  /// it is set, cleared or loaded.
  virtual void stand(History& history, std::int64_t slot) = 0;
  /// Copies the state's other saved fields, or its rings, into `slot`.
  virtual void keep(History& history, std::int64_t slot) const = 0;
  /// Rebuilt fields begin as `forward`, an engine of the same kind and device, has left what they rebuild: of
  /// all shots that run.
  virtual void take_over(const Engine& forward, const std::vector<ir::Handover>& handovers) = 0;

  /// Room for a state.
  virtual std::unique_ptr<HeldState> make_state() = 0;
  /// Copies the present of all shots, in the order of the steps, without waiting for them.
  virtual void hold(HeldState& into) const = 0;
  /// Makes it the present again, bit for bit; with a history, where `stand` says.
  virtual void resume(const HeldState& from) = 0;
  /// The same as bytes in the host's memory, state_bytes() of them. Both wait.
  virtual std::size_t state_bytes() const = 0;
  virtual void download(std::span<std::byte> into) const = 0;
  virtual void upload(std::span<const std::byte> from) = 0;

 protected:
  /// For steps that come one by one: the next goes from `before` to `slot`; of what an adjoint reads, these
  /// are levels -1 and 0.
  virtual void bind(History& /*history*/, std::int64_t /*before*/, std::int64_t /*slot*/) {}
};

/// What engines need to know.
struct EngineSetup {
  ir::Domain domain;
  ir::Symbols symbols;  ///< dt, h_AXIS
  ir::LayerOptions layer;
  DType dtype = DType::float32;
  int least_halo = 0;      ///< of full arrays: engines that share a history have the same
  std::int64_t shots = 1;  ///< that run at once, at most; more than 1 on CUDA devices only
};

/// Both throw UserError where the domain has a free surface that the equation refuses.
std::unique_ptr<Engine> make_reference_engine(const passes::Compilation& compilation,
                                              const EngineSetup& setup);
std::unique_ptr<Engine> make_compiled_engine(const passes::Compilation& compilation, const EngineSetup& setup,
                                             device::Device& device,
                                             std::shared_ptr<const jit::HostModule> module);

/// Bytes a compiled engine allocates on its device, without allocating them.
std::size_t compiled_engine_bytes(const passes::Compilation& compilation, const ir::Domain& domain,
                                  DType dtype, int least_halo = 0);
/// Bytes of a history's slot on the device.
std::size_t history_slot_bytes(const passes::Compilation& compilation, const ir::Domain& domain, DType dtype,
                               int least_halo, std::size_t saves);

}  // namespace ondula::loop
