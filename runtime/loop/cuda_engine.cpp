// Fields and coefficients on a CUDA device, and the launches of a step.
// SPDX-License-Identifier: MIT
#include "runtime/loop/cuda_engine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>
#include <utility>

#include "compiler/error.hpp"
#include "compiler/passes/surface.hpp"
#include "runtime/loop/arrays.hpp"
#include "runtime/loop/coefficient_array.hpp"
#include "runtime/loop/cuda_halo.hpp"
#include "runtime/loop/cuda_magnitude.hpp"
#include "runtime/loop/cuda_points.hpp"
#include "runtime/loop/cuda_shots.hpp"
#include "runtime/loop/cuda_step.hpp"
#include "runtime/loop/cuda_stepper.hpp"
#include "runtime/loop/cuda_tier.hpp"
#include "runtime/loop/history.hpp"
#include "runtime/loop/present.hpp"
#include "runtime/loop/profiles.hpp"
#include "runtime/loop/ring_layout.hpp"
#include "runtime/loop/tangent_rows.hpp"

namespace ondula::loop {
namespace {

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

template <class Real>
class CudaEngine final : public Engine {
 public:
  CudaEngine(const passes::Compilation& compilation, const EngineSetup& setup, cuda::Device& device,
             std::shared_ptr<const CudaKernels> kernels, bool graphs)
      : set_(compilation.kernels),
        setup_(setup),
        device_(device),
        kernels_(std::move(kernels)),
        halo_(std::max(common_halo(set_), setup.least_halo)),
        module_(device.load(*kernels_->module)),
        plans_(plan_arrays(set_, setup.domain, sizeof(Real), halo_)),
        strides_(shot_strides(plans_, sizeof(Real))),
        arrays_(plans_, device, sizeof(Real), setup.shots),
        present_(set_.program, arrays_, device, sizeof(Real), setup.shots),
        maker_(kernels_->program, setup_, device_, *module_, arrays_, strides_, halo_),
        points_(device, setup.dtype),
        rings_(ring_layout(set_.program, setup.domain)) {
    std::size_t states = 0;
    for (const ir::Field& field : set_.program.fields) {
      if (field.strip_axis >= 0 || field.saved) continue;
      ++states;
      two_levels_ |= !field.accumulator && field.time_order == 2;
    }
    clear(true);
    upload_profiles<Real>(arrays_, setup_, device_);
    stepper_ = std::make_unique<CudaStepper>(device_, *module_, setup.dtype, two_levels_, graphs);
    magnitude_ = std::make_unique<CudaMagnitude>(device_, *module_, setup.dtype, states, setup.shots);
  }

  void set_models(const Models& models) override {
    models_ = &models;
    padded_ = std::make_unique<PaddedModel>(setup_.domain, models, halo_);
    for (const ir::Coefficient& c : set_.program.coefficients) {
      if (ir::is_tangent(c.definition)) continue;
      auto& array = arrays_.at(coefficient_key(c.name));
      std::vector<Real> values(at(array.layout.size), Real(0));
      coefficient_rows(
          c, setup_.domain, setup_.symbols, *padded_, halo_,
          [&](std::int64_t count, const auto& body) { device_.parallel(count, body); },
          [&](const ir::Extents& first, std::span<const double> row) {
            put(values, array.layout, first, row);
          });
      device_.upload(array.buffer, 0, values.data(), values.size() * sizeof(Real));
    }
  }

  void set_perturbation(const Perturbation& perturbation) override {
    const Sensitivity sensitivity(setup_.domain, setup_.symbols, *models_);
    for (const ir::Coefficient& c : set_.program.coefficients) {
      if (!ir::is_tangent(c.definition)) continue;
      auto& array = arrays_.at(coefficient_key(c.name));
      std::vector<Real> values(at(array.layout.size), Real(0));
      tangent_rows(c.definition->args[0], setup_.domain, halo_, sensitivity, perturbation,
                   [&](const ir::Extents& first, std::span<const double> row) {
                     put(values, array.layout, first, row);
                   });
      device_.upload(array.buffer, 0, values.data(), values.size() * sizeof(Real));
    }
  }

  void clear(bool sums) override {
    forget_values();
    if (stepper_) stepper_->drop();
    if (magnitude_) magnitude_->forget();
    for (auto& [key, array] : arrays_.all()) {
      if (key.kind != ir::ArrayKind::field) continue;
      if (sums || !set_.program.field(key.name).accumulator) device_.fill_zero(array.buffer);
    }
    parity_ = 0;  // so that every shot's steps are the same launches
    looked_at_ = 0;
  }

  /// Rows are asked for one by one, from many threads: the whole array comes down with the first.
  std::vector<double> values(const std::string& name, const ir::Box& box) const override {
    const Arrays::Array& array = arrays_.at(field_key(name, slot(set_.program.field(name), 0)));
    const std::vector<Real>& data = downloaded(name, array);
    std::vector<double> result;
    result.reserve(at(box[0].size() * box[1].size() * box[2].size()));
    ir::Extents i{};
    for (i[0] = box[0].lo; i[0] < box[0].hi; ++i[0]) {
      for (i[1] = box[1].lo; i[1] < box[1].hi; ++i[1]) {
        for (i[2] = box[2].lo; i[2] < box[2].hi; ++i[2])
          result.push_back(static_cast<double>(data[at(array.layout.at(i))]));
      }
    }
    return result;
  }

  std::unique_ptr<History> make_history(const std::vector<ir::Save>& saves, std::int64_t slots,
                                        const HistoryTier& tier) override {
    if (rings_.size > 0) {
      return make_cuda_history(device_, ring_saves(), slots, ring_as_layout(rings_), sizeof(Real),
                               ShotCopies{setup_.shots, ring_stride(rings_, sizeof(Real))}, tier);
    }
    auto history = make_cuda_history(device_, saves, slots, full_layout(setup_.domain, halo_, sizeof(Real)),
                                     sizeof(Real), ShotCopies{setup_.shots, strides_.full}, tier);
    // Steps write where a field lives; around it they read zeros, and what no store takes.
    for (std::size_t s = 0; s < saves.size(); ++s) history->fill_zero(s);
    return history;
  }

  void stand(History& history, std::int64_t slot) override {
    auto& kept = dynamic_cast<DeviceHistory&>(history);
    kept.claim(slot);
    stand_in(kept, slot);
  }

  void keep(History& history, std::int64_t slot) const override {
    auto& kept = dynamic_cast<DeviceHistory&>(history);
    const cuda::Session& session = *device_.session();
    const cuda::Scope scope(*device_.session());
    if (rings_.size > 0) {
      for (const cuda::KernelLaunch& launch : maker_.keep_rings(parity_, cuda::address(kept.buffer(0, slot))))
        device_.enqueue(launch, device_.stream(), shots_);
    }
    for (const CudaCopy& copy : copies(kept, slot, parity_))
      device_.session()->call(session.functions().copy_on_device, copy.to, copy.from, copy.bytes,
                              device_.stream());
    kept.complete(slot);
  }

  void take_over(const Engine& forward, const std::vector<ir::Handover>& handovers) override {
    const auto& other = dynamic_cast<const CudaEngine&>(forward);
    const cuda::Session& session = *device_.session();
    const cuda::Scope scope(*device_.session());
    for (const ir::Handover& h : handovers) {
      const auto& from =
          other.arrays_.at(field_key(h.field, other.slot(other.set_.program.field(h.field), h.from))).buffer;
      auto& to = arrays_.at(field_key(h.rebuilt, slot(set_.program.field(h.rebuilt), h.to))).buffer;
      device_.session()->call(session.functions().copy_on_device, cuda::address(to), cuda::address(from),
                              from.bytes(), device_.stream());
    }
  }

  std::unique_ptr<HeldState> make_state() override { return present_.make(); }
  void hold(HeldState& into) const override { present_.hold(into, parity_); }
  std::size_t state_bytes() const override { return present_.bytes(); }
  void download(std::span<std::byte> into) const override { present_.download(into, parity_); }

  void resume(const HeldState& from) override {
    forget_values();
    present_.resume(from);
    parity_ = 0;
  }

  void upload(std::span<const std::byte> from) override {
    forget_values();
    present_.upload(from);
    parity_ = 0;
  }

  void set_field(const std::string& name, int level, std::span<const double> values) override {
    const ir::Field& field = set_.program.field(name);
    if (values.size() != at(setup_.domain.points())) {
      throw InternalError(
          fmt::format("field {}: {} values for {} points", name, values.size(), setup_.domain.points()));
    }
    forget_values();
    auto& array = arrays_.at(field_key(name, slot(field, level)));
    std::vector<Real> data(at(array.layout.size), Real(0));
    each_live_row(field, [&](const ir::Extents& row, const ir::Range& live, std::int64_t flat) {
      for (std::int64_t i = live.lo; i < live.hi; ++i)
        data[at(array.layout.at(row) + i)] = static_cast<Real>(values[at(flat + i)]);
    });
    for (std::int64_t shot = 0; shot < setup_.shots; ++shot)
      device_.upload(array.buffer, shot_bytes(array, shot), data.data(), data.size() * sizeof(Real));
    const cuda::Scope scope(*device_.session());
    for (const cuda::KernelLaunch& launch : maker_.halo(name, array.buffer))
      device_.enqueue(launch, device_.stream(), setup_.shots);
  }

  std::vector<double> field(const std::string& name, int level) const override {
    const ir::Field& field = set_.program.field(name);
    const auto& array = arrays_.at(field_key(name, slot(field, level)));
    std::vector<Real> data(at(array.layout.size));
    device_.download(array.buffer, shot_bytes(array, looked_at_), data.data(), data.size() * sizeof(Real));
    std::vector<double> values(at(setup_.domain.points()));
    each_live_row(field, [&](const ir::Extents& row, const ir::Range& live, std::int64_t flat) {
      for (std::int64_t i = live.lo; i < live.hi; ++i)
        values[at(flat + i)] = static_cast<double>(data[at(array.layout.at(row) + i)]);
    });
    return values;
  }

  void set_points(std::vector<ir::PointSource> sources, std::vector<ir::PointReceiver> receivers) override {
    std::vector<EnginePoints> shots(1);
    shots.front() = {std::move(sources), std::move(receivers)};
    set_shots(std::move(shots));
  }

  void set_shots(std::vector<EnginePoints> shots) override {
    shots_ = static_cast<std::int64_t>(shots.size());
    if (shots_ < 1 || shots_ > setup_.shots)
      throw InternalError(fmt::format("{} shots for an engine of {}", shots.size(), setup_.shots));
    std::vector<CudaPoints::Deposit> deposits = cuda_deposits(set_.program, setup_, arrays_, *padded_, shots);
    CudaSeries series;
    series.shots = shots_;
    std::vector<CudaPoints::Pickup> pickups = cuda_pickups(set_, arrays_, shots, series);
    for (EnginePoints& own : shots) {
      for (ir::PointSource& source : own.sources) series.sources.push_back(std::move(source.samples));
    }
    const bool was_stale = std::exchange(stale_, true);  // as an error on the way leaves it
    stepper_->set_series({});
    const bool changed = points_.set(deposits, series.sources.size(), pickups, pickups.size());
    stepper_->set_series(std::move(series));
    stale_ = was_stale || changed;
  }

  void look_at(std::int64_t shot) override {
    if (shot != looked_at_) forget_values();
    looked_at_ = shot;
  }

  void step(std::int64_t n, std::span<double> samples) override {
    Watch watch;
    watch.receivers = samples.size();
    if (!samples.empty()) {
      watch.samples = [&](std::int64_t, std::span<const double> values) {
        std::copy(values.begin(), values.end(), samples.begin());
      };
    }
    steps(n, 1, 1, watch, {});
    finish(watch);
  }

  void steps(std::int64_t first, std::int64_t count, std::int64_t every, const Watch& watch,
             const Kept& kept) override {
    ready_steps(every);
    forget_values();
    if (kept.history == nullptr) {
      parity_ = stepper_->run(first, count, every, parity_, watch);
      return;
    }
    if (count == 0) return;
    const Slots slots(*this, dynamic_cast<DeviceHistory&>(*kept.history), kept);
    parity_ = stepper_->run(first, count, every, parity_, watch, &slots);
    stand_in(dynamic_cast<DeviceHistory&>(*kept.history), kept.after(count - 1));
  }

  void watch_magnitude(std::int64_t step, const Watch& watch) override {
    magnitude_->ask(step, state_arrays(), shots_, watch);
  }

  void finish(const Watch& watch) override {
    stepper_->finish(watch);
    magnitude_->tell(watch);
  }

  std::int64_t stride() const override { return 48; }

  Snapshot save() const override {
    return save_fields(
        arrays_, device_, sizeof(Real), [this](const ArrayKey& key) { return level_of(key); }, looked_at_);
  }

  void restore(const Snapshot& snapshot) override {
    forget_values();
    restore_fields(
        snapshot, arrays_, device_, [this](const ArrayKey& key) { return level_of(key); }, setup_.shots);
  }

  double magnitude() const override {
    return magnitude_->now(state_arrays(), setup_.shots).at(at(looked_at_));
  }

 private:
  /// Where the present's fields that are kept where they are written stand.
  void stand_in(DeviceHistory& history, std::int64_t slot) {
    bind_apart(arrays_, set_.program, history, std::nullopt, slot);
    stepped_ = true;
  }

  /// Where a shot's copy begins.
  std::size_t shot_bytes(const Arrays::Array& array, std::int64_t shot) const {
    return at(shot * array.shot_stride) * sizeof(Real);
  }

  /// Which slot holds a level now: second-order fields rotate; of what is kept where it is written slot 1 is
  /// the present between steps.
  int slot(const ir::Field& field, int level) const {
    if (field.apart) return stepped_ || level == 1 ? 1 : 0;
    if (field.time_order != 2) return 0;
    return level == 0 ? parity_ : 1 - parity_;
  }

  /// The level an array holds now.
  int level_of(const ArrayKey& key) const {
    const ir::Field& field = set_.program.field(key.name);
    return key.side < 0 && field.slots() == 2 && key.slot != slot(field, 0) ? -1 : 0;
  }

  static void put(std::vector<Real>& values, const Layout& layout, const ir::Extents& first,
                  std::span<const double> row) {
    Real* const to = values.data() + layout.at(first);
    for (std::size_t i = 0; i < row.size(); ++i) to[i] = static_cast<Real>(row[i]);
  }

  /// f(row's index, live entries of the row, flat index of its first entry) for rows where `field` lives.
  template <class F>
  void each_live_row(const ir::Field& field, const F& f) const {
    const ir::Domain& domain = setup_.domain;
    const int inner = domain.dims - 1;
    const ir::Box live = domain.live(field);
    const std::int64_t count = domain.total(inner);
    const ir::Range along{std::max<std::int64_t>(live[at(inner)].lo, 0), std::min(live[at(inner)].hi, count)};
    ir::Extents row{};
    const auto outer = [&](int axis) { return axis < inner ? domain.total(axis) : 1; };
    const auto lives = [&](int axis) {
      return axis >= inner || (row[at(axis)] >= live[at(axis)].lo && row[at(axis)] < live[at(axis)].hi);
    };
    std::int64_t flat = 0;
    for (row[0] = 0; row[0] < outer(0); ++row[0]) {
      for (row[1] = 0; row[1] < outer(1); ++row[1]) {
        if (lives(0) && lives(1)) f(row, along, flat);
        flat += count;
      }
    }
  }

  void ready_steps(std::int64_t every) {
    const bool was_stale = std::exchange(stale_, true);
    stale_ = stepper_->reserve(every, points_.sources(), points_.rows()) || was_stale;
    if (!stale_) return;
    const CudaRows rows{stepper_->clock(), stepper_->samples(), stepper_->record()};
    stepper_->set_steps({maker_.step(0, points_, rows), maker_.step(1, points_, rows)});
    stale_ = false;
  }

  /// The history's slots that go with the steps of a run.
  class Slots final : public CudaSlots {
   public:
    Slots(const CudaEngine& engine, DeviceHistory& history, const Kept& kept)
        : engine_(engine),
          history_(history),
          tiered_(dynamic_cast<CudaTieredHistory*>(&history)),
          kept_(kept) {}

    std::int64_t most() const override { return tiered_ ? tiered_->block() : CudaSlots::most(); }
    void begin(std::int64_t number, std::int64_t count) const override {
      if (tiered_) tiered_->begin(kept_, number, count);
    }
    void end(std::int64_t number, std::int64_t count) const override {
      if (tiered_) tiered_->end(kept_, number, count);
    }

    void bind(CudaStep& step, std::int64_t number) const override {
      for (CudaItem& item : step) {
        for (const CudaKept& kept : item.kept) {
          const std::int64_t from = kept.previous ? kept_.before(number) : kept_.after(number);
          item.launch.arguments.at(kept.argument) =
              cuda::address(history_.buffer(history_.find(kept.field), from)) +
              static_cast<cuda::DevicePointer>(kept.offset) * sizeof(Real);
        }
      }
    }

    std::vector<CudaCopy> copies(std::int64_t number, int parity) const override {
      if (kept_.way != Kept::Way::keep) return {};
      return engine_.copies(history_, kept_.after(number), parity);
    }

   private:
    const CudaEngine& engine_;
    DeviceHistory& history_;
    CudaTieredHistory* tiered_;
    Kept kept_;
  };

  /// What of the state is kept by a copy, while slot `parity` of second-order fields holds the present.
  std::vector<CudaCopy> copies(DeviceHistory& history, std::int64_t slot, int parity) const {
    std::vector<CudaCopy> result;
    if (rings_.size > 0) return result;
    for (std::size_t s = 0; s < history.saves().size(); ++s) {
      const ir::Field& field = set_.program.field(history.saves()[s].field);
      if (field.saved || field.apart) continue;  // written there by the step
      const device::Buffer& from =
          arrays_.at(field_key(field.name, field.time_order == 2 ? parity : 0)).buffer;
      // Without the copies of shots that do not run.
      const std::size_t bytes = from.bytes() - at((setup_.shots - shots_) * strides_.full) * sizeof(Real);
      result.push_back({cuda::address(history.buffer(s, slot)), cuda::address(from), bytes});
    }
    return result;
  }

  /// Of the present, until something changes it.
  const std::vector<Real>& downloaded(const std::string& name, const Arrays::Array& array) const {
    const std::lock_guard lock(values_mutex_);
    const auto [found, fresh] = values_.try_emplace(name);
    if (fresh) {
      std::vector<Real> data(at(array.layout.size));
      try {
        device_.download(array.buffer, shot_bytes(array, looked_at_), data.data(),
                         data.size() * sizeof(Real));
      } catch (...) {
        values_.erase(found);
        throw;
      }
      found->second = std::move(data);
    }
    return found->second;
  }

  void forget_values() {
    const std::lock_guard lock(values_mutex_);
    values_.clear();
  }

  std::vector<CudaMagnitude::Array> state_arrays() const {
    std::vector<CudaMagnitude::Array> result;
    for (const ir::Field& field : set_.program.fields) {
      if (field.strip_axis >= 0 || field.saved) continue;
      const auto& array = arrays_.at(field_key(field.name, slot(field, 0)));
      result.push_back({cuda::address(array.buffer), array.layout.size, array.shot_stride});
    }
    return result;
  }

  ir::KernelSet set_;
  EngineSetup setup_;
  cuda::Device& device_;
  std::shared_ptr<const CudaKernels> kernels_;
  int halo_;
  std::unique_ptr<cuda::LoadedModule> module_;
  std::vector<ArrayPlan> plans_;
  ShotStrides strides_;
  Arrays arrays_;
  Present present_;
  CudaStepMaker maker_;
  CudaPoints points_;
  RingLayout rings_;
  mutable std::mutex values_mutex_;
  mutable std::map<std::string, std::vector<Real>> values_;  ///< arrays that values() was asked for
  bool two_levels_ = false;
  bool stale_ = true;           ///< the stepper's launches are not those of the present points
  std::int64_t shots_ = 1;      ///< that run
  std::int64_t looked_at_ = 0;  ///< of them
  int parity_ = 0;
  bool stepped_ = false;  ///< since the history's slot was bound
  const Models* models_ = nullptr;
  std::unique_ptr<PaddedModel> padded_;
  std::unique_ptr<CudaMagnitude> magnitude_;
  std::unique_ptr<CudaStepper> stepper_;
};

}  // namespace

std::unique_ptr<Engine> make_cuda_engine(const passes::Compilation& compilation, const EngineSetup& setup,
                                         cuda::Device& device, std::shared_ptr<const CudaKernels> kernels,
                                         bool graphs) {
  passes::require_surface(compilation.physical, setup.domain);
  if (setup.dtype == DType::float32)
    return std::make_unique<CudaEngine<float>>(compilation, setup, device, std::move(kernels), graphs);
  return std::make_unique<CudaEngine<double>>(compilation, setup, device, std::move(kernels), graphs);
}

}  // namespace ondula::loop
