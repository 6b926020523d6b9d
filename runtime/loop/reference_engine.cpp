// The engine over the whole-array reference.
// SPDX-License-Identifier: MIT
#include "compiler/passes/surface.hpp"
#include "compiler/reference/executor.hpp"
#include "runtime/loop/engine.hpp"
#include "runtime/loop/history.hpp"
#include "runtime/loop/ring_layout.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace ondula::loop {
namespace {

/// Whole fields in double, which holds either working type.
struct ReferenceHistory final : History {
  using Slot = std::vector<std::vector<double>>;  // by save
  ReferenceHistory(std::vector<ir::Save> kept, std::int64_t count)
      : saves(std::move(kept)), ring(count), all(static_cast<std::size_t>(count), Slot(saves.size())) {}

  std::int64_t slots() const override { return ring.count(); }
  void rebase(std::int64_t slot) override { ring.rebase(slot); }
  void reset() override { ring.reset(); }
  Slot& at(std::int64_t slot) { return all[ring.place(slot)]; }
  const Slot& at(std::int64_t slot) const { return all[ring.place(slot)]; }

  void add_squares(const ir::Domain& domain, std::int64_t slot, const std::vector<ir::Box>& lives,
                   std::vector<double>& nodes, std::int64_t /*shot*/) override {
    for (std::size_t s = 0; s < lives.size(); ++s) {
      const std::vector<double>& values = at(slot).at(s);
      each_model_node(domain, [&](const ir::Extents& i, std::size_t flat) {
        if (!holds(lives[s], i)) return;
        const double value =
            values[static_cast<std::size_t>((i[0] * domain.total(1) + i[1]) * domain.total(2) + i[2])];
        nodes[flat] += value * value;
      });
    }
  }

  std::vector<ir::Save> saves;
  Ring ring;
  std::vector<Slot> all;
};

struct ReferenceState final : HeldState {
  explicit ReferenceState(std::size_t size) : bytes(size) {}
  std::vector<std::byte> bytes;
};

template <class Real>
class ReferenceEngine final : public Engine {
 public:
  ReferenceEngine(const passes::Compilation& compilation, const EngineSetup& setup)
      : program_(compilation.physical),
        setup_(setup),
        executor_(compilation.physical, setup.domain, setup.symbols, setup.layer) {}

  void set_models(const Models& models) override {
    for (const ir::Parameter& parameter : program_.parameters)
      executor_.set_parameter(parameter.name, padded(models, parameter.name));
  }

  void set_perturbation(const Perturbation& perturbation) override {
    Models changes;
    for (const auto& [name, values] : perturbation) changes[name] = ModelArray(values);
    for (const ir::Parameter& parameter : program_.parameters) {
      const std::vector<double> none(static_cast<std::size_t>(setup_.domain.points()), 0.0);
      executor_.set_perturbation(parameter.name,
                                 changes.contains(parameter.name) ? padded(changes, parameter.name) : none);
    }
  }

  void clear(bool sums) override { sums ? executor_.clear() : executor_.clear_state(); }

  std::vector<double> values(const std::string& name, const ir::Box& box) const override {
    return executor_.values(name, box);
  }

  std::unique_ptr<History> make_history(const std::vector<ir::Save>& saves, std::int64_t slots,
                                        const HistoryTier& tier) override {
    if (tier.tier != Tier::device) {
      throw UserError(
          "the reference keeps what a gradient needs in its own memory: tier host or disk is for the "
          "backends host, cuda and cuda-sim");
    }
    const bool rings = std::any_of(program_.operations.begin(), program_.operations.end(),
                                   [](const auto& o) { return std::holds_alternative<ir::Ring>(o); });
    return std::make_unique<ReferenceHistory>(rings ? ring_saves() : saves, slots);
  }

  void stand(History& /*history*/, std::int64_t /*slot*/) override {}  // the present is the executor's

  void bind(History& history, std::int64_t before, std::int64_t slot) override {
    const auto& kept = dynamic_cast<const ReferenceHistory&>(history);
    for (std::size_t s = 0; s < kept.saves.size(); ++s) {
      const ir::Save& save = kept.saves[s];
      if (save.field == ring_save) {
        executor_.take_rings(&kept.at(before)[s]);
        continue;
      }
      if (!has(save.name)) continue;
      executor_.set_field(save.name, 0, kept.at(slot)[s]);
      if (save.previous) executor_.set_field(save.name, -1, kept.at(before)[s]);
    }
  }

  void keep(History& history, std::int64_t slot) const override {
    auto& kept = dynamic_cast<ReferenceHistory&>(history);
    for (std::size_t s = 0; s < kept.saves.size(); ++s) {
      const bool rings = kept.saves[s].field == ring_save;
      kept.at(slot)[s] = rings ? executor_.rings() : executor_.field(kept.saves[s].field, 0);
    }
  }

  void take_over(const Engine& forward, const std::vector<ir::Handover>& handovers) override {
    for (const ir::Handover& h : handovers) set_field(h.rebuilt, h.to, forward.field(h.field, h.from));
  }

  std::unique_ptr<HeldState> make_state() override { return std::make_unique<ReferenceState>(state_bytes()); }
  void hold(HeldState& into) const override { download(dynamic_cast<ReferenceState&>(into).bytes); }
  void resume(const HeldState& from) override { upload(dynamic_cast<const ReferenceState&>(from).bytes); }

  std::size_t state_bytes() const override {
    std::size_t arrays = 0;
    each_of_state([&](const std::string&, int) { ++arrays; });
    return arrays * static_cast<std::size_t>(setup_.domain.points()) * sizeof(double);
  }

  void download(std::span<std::byte> into) const override {
    std::size_t at = 0;
    each_of_state([&](const std::string& name, int level) {
      const std::vector<double> values = executor_.field(name, level);
      const auto bytes = std::as_bytes(std::span(values));
      std::copy(bytes.begin(), bytes.end(), into.subspan(at, bytes.size()).begin());
      at += bytes.size();
    });
  }

  void upload(std::span<const std::byte> from) override {
    std::size_t at = 0;
    std::vector<double> values(static_cast<std::size_t>(setup_.domain.points()));
    each_of_state([&](const std::string& name, int level) {
      const auto bytes = std::as_writable_bytes(std::span(values));
      std::copy_n(from.subspan(at, bytes.size()).begin(), bytes.size(), bytes.begin());
      executor_.set_field(name, level, values);
      at += bytes.size();
    });
  }

  void set_field(const std::string& name, int level, std::span<const double> values) override {
    executor_.set_field(name, level, values);
  }
  std::vector<double> field(const std::string& name, int level) const override {
    return executor_.field(name, level);
  }
  void set_points(std::vector<ir::PointSource> sources, std::vector<ir::PointReceiver> receivers) override {
    sources_ = std::move(sources);
    receivers_ = std::move(receivers);
  }
  void step(std::int64_t n, std::span<double> samples) override {
    if (samples.empty())
      executor_.step(n, sources_, {}, {});
    else
      executor_.step(n, sources_, receivers_, samples);
  }

  Snapshot save() const override {
    Snapshot snapshot;
    Layout layout;
    layout.stride = {setup_.domain.total(1) * setup_.domain.total(2), setup_.domain.total(2), 1};
    layout.size = setup_.domain.points();
    for (const ir::Field& field : program_.fields) {
      for (int level = field.time_order == 2 ? -1 : 0; level <= 0; ++level) {
        const std::vector<double> values = executor_.field(field.name, level);
        snapshot.push_back({field.name, level, -1, layout, sizeof(double), {}});
        std::vector<std::byte>& bytes = snapshot.back().bytes;
        bytes.resize(values.size() * sizeof(double));
        std::memcpy(bytes.data(), values.data(), bytes.size());
      }
    }
    return snapshot;
  }

  void restore(const Snapshot& snapshot) override {
    for (const SavedArray& array : snapshot) {
      std::vector<double> values(array.bytes.size() / sizeof(double));
      std::memcpy(values.data(), array.bytes.data(), array.bytes.size());
      executor_.set_field(array.name, array.level, values);
    }
  }

  double magnitude() const override {
    double largest = 0;
    for (const ir::Field& field : program_.fields) {
      if (field.strip_axis >= 0) continue;
      for (const double value : executor_.field(field.name, 0)) {
        if (!std::isfinite(value)) return std::numeric_limits<double>::quiet_NaN();
        largest = std::max(largest, std::fabs(value));
      }
    }
    return largest;
  }

 private:
  /// On the padded grid, C order.
  std::vector<double> padded(const Models& models, const std::string& name) const {
    const PaddedModel model(setup_.domain, models, 0);
    std::vector<double> values, row;
    ir::Extents index{};
    const auto outer = [&](int axis) {
      return axis < setup_.domain.dims - 1 ? setup_.domain.total(axis) : 1;
    };
    for (index[0] = 0; index[0] < outer(0); ++index[0]) {
      for (index[1] = 0; index[1] < outer(1); ++index[1]) {
        model.row(name, index, row);
        values.insert(values.end(), row.begin(), row.end());
      }
    }
    return values;
  }

  /// f(name, level) for all that the next steps depend on.
  template <class F>
  void each_of_state(const F& f) const {
    for (const ir::Field& field : program_.fields) {
      if (field.saved || field.accumulator) continue;
      for (int level = field.time_order == 2 ? -1 : 0; level <= 0; ++level) f(field.name, level);
    }
  }

  bool has(const std::string& name) const {
    return std::any_of(program_.fields.begin(), program_.fields.end(),
                       [&](const ir::Field& f) { return f.name == name; });
  }

  ir::Program program_;
  EngineSetup setup_;
  reference::Executor<Real> executor_;
  std::vector<ir::PointSource> sources_;
  std::vector<ir::PointReceiver> receivers_;
};

}  // namespace

std::unique_ptr<Engine> make_reference_engine(const passes::Compilation& compilation,
                                              const EngineSetup& setup) {
  passes::require_surface(compilation.physical, setup.domain);
  if (setup.dtype == DType::float32) return std::make_unique<ReferenceEngine<float>>(compilation, setup);
  return std::make_unique<ReferenceEngine<double>>(compilation, setup);
}

}  // namespace ondula::loop
