// The engine over compiled kernels on a device.
// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <mutex>

#include "compiler/error.hpp"
#include "compiler/passes/surface.hpp"
#include "runtime/floating_point.hpp"
#include "runtime/loop/arrays.hpp"
#include "runtime/loop/coefficient_array.hpp"
#include "runtime/loop/engine.hpp"
#include "runtime/loop/factor.hpp"
#include "runtime/loop/halo.hpp"
#include "runtime/loop/history.hpp"
#include "runtime/loop/host_points.hpp"
#include "runtime/loop/launch_binder.hpp"
#include "runtime/loop/magnitude.hpp"
#include "runtime/loop/present.hpp"
#include "runtime/loop/profiles.hpp"
#include "runtime/loop/ring_layout.hpp"
#include "runtime/loop/tangent_rows.hpp"
#include "runtime/loop/tiered_history.hpp"

namespace ondula::loop {
namespace {

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

/// From so many taps on, one step's receivers are worth several threads.
constexpr std::size_t many_taps = 20'000;

template <class Real>
class CompiledEngine final : public Engine {
 public:
  CompiledEngine(const passes::Compilation& compilation, const EngineSetup& setup, device::Device& device,
                 std::shared_ptr<const jit::HostModule> module)
      : set_(compilation.kernels),
        setup_(setup),
        device_(device),
        module_(std::move(module)),
        halo_(std::max(common_halo(set_), setup.least_halo)),
        arrays_(plan_arrays(set_, setup.domain, sizeof(Real), halo_), device, sizeof(Real)),
        present_(set_.program, arrays_, device, sizeof(Real)),
        rings_(ring_layout(set_.program, setup.domain)) {
    const bool first_order = set_.program.first_order();
    for (const ir::Field& field : set_.program.fields) {
      if (field.strip_axis >= 0 || field.saved || field.accumulator) continue;
      two_levels_ |= field.time_order == 2;
      halos_.emplace(field.name, HaloFiller(setup.domain, field, first_order, halo_));
    }
    clear(true);
    upload_profiles<Real>(arrays_, setup_, device_);
    const LaunchBinder binder(set_, setup_, device_, *module_, arrays_, halo_);
    for (const ir::Kernel& kernel : set_.kernels) {
      for (std::size_t a = 0; a < kernel.arrays.size(); ++a) {
        const ir::ArrayArgument& argument = kernel.arrays[a];
        if (argument.kind != ir::ArrayKind::field) continue;
        const ir::Field& field = set_.program.field(argument.name);
        // Slot 1 of what an adjoint reads is the level before; of what a forward step keeps, the one written.
        const bool before = field.saved ? argument.slot == 1 : argument.slot == 0;
        if (field.saved || field.apart) externals_.push_back({argument.name, before, launches_[0].size(), a});
      }
      launches_[0].push_back(binder.launch(kernel, 0));
      launches_[1].push_back(binder.launch(kernel, 1));
    }
  }

  void set_models(const Models& models) override {
    models_ = &models;
    padded_ = std::make_unique<PaddedModel>(setup_.domain, models, halo_);
    for (const ir::Coefficient& c : set_.program.coefficients) {
      if (!ir::is_tangent(c.definition)) compute_coefficient(c);
    }
  }

  void set_perturbation(const Perturbation& perturbation) override {
    const Sensitivity sensitivity(setup_.domain, setup_.symbols, *models_);
    std::vector<Real> rounded;
    for (const ir::Coefficient& c : set_.program.coefficients) {
      if (!ir::is_tangent(c.definition)) continue;
      auto& array = arrays_.at(coefficient_key(c.name));
      tangent_rows(c.definition->args[0], setup_.domain, halo_, sensitivity, perturbation,
                   [&](const ir::Extents& first, std::span<const double> row) {
                     rounded.assign(row.begin(), row.end());
                     device_.upload(array.buffer, at(array.layout.at(first)) * sizeof(Real), rounded.data(),
                                    rounded.size() * sizeof(Real));
                   });
    }
  }

  void clear(bool sums) override {
    for (auto& [key, array] : arrays_.all()) {
      if (key.kind != ir::ArrayKind::field) continue;
      if (sums || !set_.program.field(key.name).accumulator) device_.fill_zero(array.buffer);
    }
  }

  std::vector<double> values(const std::string& name, const ir::Box& box) const override {
    const auto& array = arrays_.at(field_key(name, slot(set_.program.field(name), 0)));
    const Real* const data = static_cast<const Real*>(array.buffer.data());
    std::vector<double> result(at(box[0].size() * box[1].size() * box[2].size()));
    // Rows lie along the last axis the grid has: behind it, boxes hold one entry.
    const auto inner = at(setup_.domain.dims - 1);
    ir::Box rows = box;
    rows[inner].hi = rows[inner].lo + 1;
    double* out = result.data();
    ir::Extents i{};
    for (i[0] = rows[0].lo; i[0] < rows[0].hi; ++i[0]) {
      for (i[1] = rows[1].lo; i[1] < rows[1].hi; ++i[1]) {
        for (i[2] = rows[2].lo; i[2] < rows[2].hi; ++i[2]) {
          const Real* const row = data + array.layout.at(i);
          out = std::copy(row, row + box[inner].size(), out);
        }
      }
    }
    return result;
  }

  std::unique_ptr<History> make_history(const std::vector<ir::Save>& saves, std::int64_t slots,
                                        const HistoryTier& tier) override {
    if (rings_.size > 0)
      return make_host_history(device_, ring_saves(), slots, ring_as_layout(rings_), sizeof(Real), tier);
    auto history = make_host_history(device_, saves, slots, full_layout(setup_.domain, halo_, sizeof(Real)),
                                     sizeof(Real), tier);
    // Steps write where the field lives; around it they read zeros.
    for (std::size_t s = 0; s < saves.size(); ++s) {
      if (set_.program.field(saves[s].field).apart) history->fill_zero(s);
    }
    return history;
  }

  void bind(History& history, std::int64_t before, std::int64_t slot) override {
    auto& kept = dynamic_cast<DeviceHistory&>(history);
    bind_apart(arrays_, set_.program, kept, before, slot);
    stepped_ = false;
    if (rings_.size > 0) ring_from_ = static_cast<const Real*>(kept.buffer(0, before).data());
    for (const ir::Field& field : set_.program.fields) {
      if (field.saved)
        before_[field.name] = static_cast<const Real*>(kept.buffer(kept.find(field.name), before).data());
    }
    for (const External& e : externals_) {
      const std::int64_t from = e.previous ? before : slot;
      Real* const data = static_cast<Real*>(kept.buffer(kept.find(e.field), from).data());
      launches_[0][e.kernel].arrays[e.argument] = data + kept.layout().origin;
      launches_[1][e.kernel].arrays[e.argument] = data + kept.layout().origin;
    }
  }

  void stand(History& history, std::int64_t slot) override {
    auto& kept = dynamic_cast<DeviceHistory&>(history);
    kept.claim(slot);
    bind_apart(arrays_, set_.program, kept, std::nullopt, slot);
    stepped_ = true;
  }

  void keep(History& history, std::int64_t slot) const override {
    auto& kept = dynamic_cast<DeviceHistory&>(history);
    if (rings_.size > 0) keep_rings(kept.buffer(0, slot));
    for (std::size_t s = 0; rings_.size == 0 && s < kept.saves().size(); ++s) {
      const ir::Field& field = set_.program.field(kept.saves()[s].field);
      if (field.saved || field.apart) continue;  // written there by the step
      const auto& array = arrays_.at(field_key(field.name, this->slot(field, 0)));
      device_.copy(array.buffer, kept.buffer(s, slot));
    }
    kept.complete(slot);
  }

  void take_over(const Engine& forward, const std::vector<ir::Handover>& handovers) override {
    const auto& other = dynamic_cast<const CompiledEngine&>(forward);
    for (const ir::Handover& h : handovers) {
      const int from = other.slot(other.set_.program.field(h.field), h.from);
      const int to = slot(set_.program.field(h.rebuilt), h.to);
      device_.copy(other.arrays_.at(field_key(h.field, from)).buffer,
                   arrays_.at(field_key(h.rebuilt, to)).buffer);
    }
  }

  std::unique_ptr<HeldState> make_state() override { return present_.make(); }
  void hold(HeldState& into) const override { present_.hold(into, parity_); }
  std::size_t state_bytes() const override { return present_.bytes(); }
  void download(std::span<std::byte> into) const override { present_.download(into, parity_); }

  void resume(const HeldState& from) override {
    present_.resume(from);
    parity_ = 0;
  }

  void upload(std::span<const std::byte> from) override {
    present_.upload(from);
    parity_ = 0;
  }

  void set_field(const std::string& name, int level, std::span<const double> values) override {
    const ir::Field& field = set_.program.field(name);
    if (values.size() != at(setup_.domain.points())) {
      throw InternalError(
          fmt::format("field {}: {} values for {} points", name, values.size(), setup_.domain.points()));
    }
    auto& array = arrays_.at(field_key(name, slot(field, level)));
    Real* const data = static_cast<Real*>(array.buffer.data());
    for_rows([&](const ir::Extents& index, std::int64_t flat) {
      const ir::Range live = row_live(field, index);
      const std::int64_t base = array.layout.at(index);
      const std::int64_t count = setup_.domain.total(setup_.domain.dims - 1);
      for (std::int64_t i = 0; i < count; ++i) {
        const bool lives = i >= live.lo && i < live.hi;
        data[base + i] = lives ? static_cast<Real>(values[at(flat + i)]) : Real(0);
      }
    });
    halos_.at(name).fill(data, array.layout, device_);
  }

  std::vector<double> field(const std::string& name, int level) const override {
    const ir::Field& field = set_.program.field(name);
    const auto& array = arrays_.at(field_key(name, slot(field, level)));
    const Real* const data = static_cast<const Real*>(array.buffer.data());
    std::vector<double> values(at(setup_.domain.points()));
    for_rows([&](const ir::Extents& index, std::int64_t flat) {
      // Beyond its live entries a half-cell field's array holds images.
      const ir::Range live = row_live(field, index);
      const std::int64_t base = array.layout.at(index);
      for (std::int64_t i = live.lo; i < live.hi; ++i)
        values[at(flat + i)] = static_cast<double>(data[base + i]);
    });
    return values;
  }

  void set_points(std::vector<ir::PointSource> sources, std::vector<ir::PointReceiver> receivers) override {
    deposits_.clear();
    deposits_.reserve(sources.size());
    for (std::size_t o = 0; o < set_.program.operations.size(); ++o) {
      const auto* injection = std::get_if<ir::Injection>(&set_.program.operations[o]);
      if (injection == nullptr) continue;
      for (const ir::PointSource& source : sources) {
        if (source.source == injection->source)
          deposits_.push_back(deposit(*injection, static_cast<int>(o), source));
      }
    }
    receivers_.clear();
    taps_.clear();
    for (std::size_t r = 0; r < receivers.size(); ++r) {
      for (ir::FieldTaps& part : receivers[r].parts) {
        const Layout& layout = arrays_.at(field_key(part.field, 0)).layout;
        const std::vector<ir::Tap> taps = std::move(part.taps);  // gone at the end of this turn
        Pickup pickup{r, {}};
        pickup.from.reserve(taps.size());
        for (const ir::Tap& tap : taps) pickup.from.push_back({layout.at(tap.index), tap.weight});
        taps_[part.field] += pickup.from.size();
        receivers_[part.field].push_back(std::move(pickup));
      }
    }
  }

  void step(std::int64_t n, std::span<double> samples) override {
    std::fill(samples.begin(), samples.end(), 0.0);
    for (const ir::Stage& stage : set_.stages) {
      if (stage.kernel >= 0) {
        device_.launch(launches_[parity_][at(stage.kernel)]);
        continue;
      }
      const ir::Operation& operation = set_.program.operations[at(stage.operation)];
      if (const auto* sample = std::get_if<ir::Sample>(&operation)) record(sample->field, samples);
      if (std::holds_alternative<ir::Injection>(operation)) inject(stage.operation, n);
      if (const auto* halo = std::get_if<ir::Halo>(&operation)) fill_halo(halo->field);
      if (const auto* ring = std::get_if<ir::Ring>(&operation)) take_ring(*ring);
    }
    if (two_levels_) parity_ = 1 - parity_;
    stepped_ = true;
  }

  Snapshot save() const override {
    return save_fields(arrays_, device_, sizeof(Real), [this](const ArrayKey& key) { return level_of(key); });
  }

  void restore(const Snapshot& snapshot) override {
    restore_fields(snapshot, arrays_, device_, [this](const ArrayKey& key) { return level_of(key); });
  }

  double magnitude() const override {
    double largest = 0;
    std::mutex mutex;
    for (const ir::Field& field : set_.program.fields) {
      if (field.strip_axis >= 0 || field.saved) continue;
      const auto& array = arrays_.at(field_key(field.name, slot(field, 0)));
      const Real* const data = static_cast<const Real*>(array.buffer.data());
      device_.parallel(array.layout.size, [&](std::int64_t begin, std::int64_t end) {
        const Real most = largest_magnitude(data + begin, end - begin);
        const std::lock_guard lock(mutex);
        if (!std::isfinite(most)) largest = std::numeric_limits<double>::quiet_NaN();
        if (!std::isnan(largest)) largest = std::max(largest, static_cast<double>(most));
      });
    }
    return largest;
  }

 private:
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

  ir::Range row_live(const ir::Field& field, const ir::Extents& index) const {
    for (int axis = 0; axis < setup_.domain.dims - 1; ++axis) {
      const ir::Range live = setup_.domain.live(field, axis);
      if (index[at(axis)] < live.lo || index[at(axis)] >= live.hi) return {};
    }
    const ir::Range live = setup_.domain.live(field, setup_.domain.dims - 1);
    return {std::max<std::int64_t>(live.lo, 0),
            std::min(live.hi, setup_.domain.total(setup_.domain.dims - 1))};
  }

  template <class F>
  void for_rows(const F& body) const {
    const auto outer = [&](int axis) {
      return axis < setup_.domain.dims - 1 ? setup_.domain.total(axis) : 1;
    };
    const std::int64_t count = setup_.domain.total(setup_.domain.dims - 1);
    ir::Extents index{};
    std::int64_t flat = 0;
    for (index[0] = 0; index[0] < outer(0); ++index[0]) {
      for (index[1] = 0; index[1] < outer(1); ++index[1]) {
        body(index, flat);
        flat += count;
      }
    }
  }

  void compute_coefficient(const ir::Coefficient& coefficient) {
    auto& array = arrays_.at(coefficient_key(coefficient.name));
    std::vector<Real> rounded;
    coefficient_rows(
        coefficient, setup_.domain, setup_.symbols, *padded_, halo_,
        [](std::int64_t count, const auto& body) { body(0, count); },
        [&](const ir::Extents& first, std::span<const double> row) {
          rounded.assign(row.begin(), row.end());
          device_.upload(array.buffer, at(array.layout.at(first)) * sizeof(Real), rounded.data(),
                         rounded.size() * sizeof(Real));
        });
  }

  Deposit deposit(const ir::Injection& injection, int operation, const ir::PointSource& source) const {
    const ir::Field& target = set_.program.field(injection.field);
    const Layout& layout = arrays_.at(field_key(target.name, 0)).layout;
    Deposit result{operation, {}, source.samples};
    result.to.reserve(source.taps.size());
    for (const ir::Tap& tap : source.taps) {
      // An adjoint's injection may feed another component than the one whose taps these are.
      const ir::Range live = row_live(target, tap.index);
      const std::int64_t along = tap.index[at(setup_.domain.dims - 1)];
      if (along < live.lo || along >= live.hi) continue;
      const double factor =
          source.raw ? 1.0
                     : source_factor(injection.factor, setup_.symbols, *padded_, tap.index, &setup_.domain);
      result.to.push_back({layout.at(tap.index), factor * tap.weight});
    }
    return result;
  }

  void inject(int operation, std::int64_t n) {
    const FlushDenormals flush;
    for (const Deposit& deposit : deposits_) {
      if (deposit.operation != operation || at(n) >= deposit.samples.size() || n < 0) continue;
      const auto& injection = std::get<ir::Injection>(set_.program.operations[at(operation)]);
      const ir::Field& field = set_.program.field(injection.field);
      auto& array = arrays_.at(field_key(field.name, slot(field, 1)));
      if (injection.times.empty())
        device_.scatter_add(array.buffer, setup_.dtype, deposit.to, deposit.samples[at(n)]);
      else
        scatter_times(array.buffer, times(injection), deposit.to, deposit.samples[at(n)]);
    }
  }

  const Real* times(const ir::Injection& injection) {
    const ir::Field& field = set_.program.field(injection.times);
    if (field.saved) return before_.at(injection.times);
    const ArrayKey key = field_key(field.name, slot(field, injection.times_level));
    return static_cast<const Real*>(arrays_.at(key).buffer.data());
  }

  static void scatter_times(device::Buffer& buffer, const Real* times, std::span<const device::Weighted> to,
                            double amplitude) {
    auto* const values = static_cast<Real*>(buffer.data());
    for (const device::Weighted& w : to) {
      const Real gain = static_cast<Real>(w.weight) * static_cast<Real>(amplitude);
      values[w.element] += gain * times[w.element];
    }
  }

  void record(const std::string& field, std::span<double> samples) const {
    const ir::Field& f = set_.program.field(field);
    const auto& array = arrays_.at(field_key(field, slot(f, 0)));
    const auto found = receivers_.find(field);
    if (found == receivers_.end() || samples.empty()) return;
    const std::vector<Pickup>& pickups = found->second;
    const auto gather = [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t r = begin; r < end; ++r) {
        samples[pickups[at(r)].sample] += device_.gather(array.buffer, setup_.dtype, pickups[at(r)].from);
      }
    };
    const auto count = static_cast<std::int64_t>(pickups.size());
    if (taps_.at(field) < many_taps) {
      const FlushDenormals flush;  // as the device's threads have it: few receivers or many, the same bits
      gather(0, count);
    } else {
      device_.parallel(count, gather);
    }
  }

  void fill_halo(const std::string& name) {
    const HaloFiller& filler = halos_.at(name);
    if (filler.empty()) return;
    const ir::Field& field = set_.program.field(name);
    auto& array = arrays_.at(field_key(name, slot(field, 1)));
    filler.fill(static_cast<Real*>(array.buffer.data()), array.layout, device_);
  }

  void keep_rings(device::Buffer& buffer) const {
    auto* const kept = static_cast<Real*>(buffer.data());
    for (const RingPart& part : rings_.parts) {
      const ir::Field& field = set_.program.field(part.field);
      const auto& array = arrays_.at(field_key(part.field, slot(field, field.time_order == 2 ? -1 : 0)));
      keep_part(part, setup_.domain.dims, static_cast<const Real*>(array.buffer.data()), array.layout, kept);
    }
  }

  void take_ring(const ir::Ring& ring) {
    if (ring.keep || ring_from_ == nullptr) return;
    auto& array = arrays_.at(field_key(ring.field, slot(set_.program.field(ring.field), 1)));
    for (const RingPart& part : rings_.parts) {
      if (part.number == ring.number)
        take_part(part, setup_.domain.dims, ring_from_, array.layout,
                  static_cast<Real*>(array.buffer.data()));
    }
  }

  /// A kernel's argument that is an array of the history.
  struct External {
    std::string field;
    bool previous = false;
    std::size_t kernel = 0, argument = 0;
  };

  ir::KernelSet set_;
  EngineSetup setup_;
  device::Device& device_;
  std::shared_ptr<const jit::HostModule> module_;
  int halo_;
  Arrays arrays_;
  Present present_;
  bool two_levels_ = false;
  int parity_ = 0;
  bool stepped_ = false;  // since the history's slot was bound
  const Models* models_ = nullptr;
  std::unique_ptr<PaddedModel> padded_;
  std::map<std::string, HaloFiller> halos_;
  std::array<std::vector<device::Launch>, 2> launches_;
  std::vector<External> externals_;
  std::map<std::string, const Real*> before_;  // saved fields before the step
  RingLayout rings_;
  const Real* ring_from_ = nullptr;  // what rebuilt fields take
  std::vector<Deposit> deposits_;
  std::map<std::string, std::vector<Pickup>> receivers_;  // by field
  std::map<std::string, std::size_t> taps_;               // how many, by field
};

}  // namespace

std::unique_ptr<Engine> make_compiled_engine(const passes::Compilation& compilation, const EngineSetup& setup,
                                             device::Device& device,
                                             std::shared_ptr<const jit::HostModule> module) {
  passes::require_surface(compilation.physical, setup.domain);
  if (setup.dtype == DType::float32) {
    return std::make_unique<CompiledEngine<float>>(compilation, setup, device, std::move(module));
  }
  return std::make_unique<CompiledEngine<double>>(compilation, setup, device, std::move(module));
}

}  // namespace ondula::loop
