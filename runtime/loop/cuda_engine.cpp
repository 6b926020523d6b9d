// Fields and coefficients on a CUDA device, and the launches of a step.
// SPDX-License-Identifier: MIT
#include "runtime/loop/cuda_engine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "compiler/error.hpp"
#include "compiler/passes/surface.hpp"
#include "runtime/loop/arrays.hpp"
#include "runtime/loop/coefficient_array.hpp"
#include "runtime/loop/cuda_binder.hpp"
#include "runtime/loop/cuda_halo.hpp"
#include "runtime/loop/cuda_magnitude.hpp"
#include "runtime/loop/cuda_points.hpp"
#include "runtime/loop/cuda_stepper.hpp"
#include "runtime/loop/factor.hpp"
#include "runtime/loop/history.hpp"
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
        arrays_(plan_arrays(set_, setup.domain, sizeof(Real), halo_), device, sizeof(Real)),
        binder_(kernels_->program, setup_, device_, *module_, arrays_, halo_),
        points_(device, setup.dtype) {
    const bool first_order = set_.program.first_order();
    const Layout full = full_layout(setup.domain, halo_, sizeof(Real));
    std::size_t states = 0;
    for (const ir::Field& field : set_.program.fields) {
      if (field.strip_axis >= 0 || field.saved) continue;
      ++states;
      if (field.accumulator) continue;
      two_levels_ |= field.time_order == 2;
      halos_.emplace(field.name,
                     CudaHalo(setup.domain, field, first_order, halo_, full, setup.dtype, device_));
    }
    clear(true);
    upload_profiles();
    externals_ = binder_.externals();
    stepper_ = std::make_unique<CudaStepper>(device_, *module_, setup.dtype, two_levels_, graphs);
    magnitude_ = std::make_unique<CudaMagnitude>(device_, *module_, setup.dtype, states);
    const cuda::Scope scope(*device_.session());
    for (const int parity : {0, 1}) {
      for (std::size_t k = 0; k < kernels_->program.kernels.size(); ++k)
        launches_[at(parity)].push_back(binder_.launch(k, parity));
    }
    halo_function_ = module_->function("ondula_halo");
    inject_function_ = module_->function("ondula_inject");
    sample_function_ = module_->function("ondula_sample");
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
    if (stepper_) stepper_->drop();
    if (magnitude_) magnitude_->forget();
    for (auto& [key, array] : arrays_.all()) {
      if (key.kind != ir::ArrayKind::field) continue;
      if (sums || !set_.program.field(key.name).accumulator) device_.fill_zero(array.buffer);
    }
    parity_ = 0;  // so that every shot's steps are the same launches
  }

  std::vector<double> values(const std::string& name, const ir::Box& box) const override {
    std::vector<double> result;
    const std::int64_t count = box[0].size() * box[1].size() * box[2].size();
    if (count == 0) return result;
    const Arrays::Array& array = arrays_.at(field_key(name, slot(set_.program.field(name), 0)));
    // The stretch of memory from the box's first entry to its last.
    const ir::Extents first{box[0].lo, box[1].lo, box[2].lo};
    const std::int64_t begin = array.layout.at(first);
    const std::int64_t end = array.layout.at({box[0].hi - 1, box[1].hi - 1, box[2].hi - 1}) + 1;
    std::vector<Real> data(at(end - begin));
    device_.download(array.buffer, at(begin) * sizeof(Real), data.data(), data.size() * sizeof(Real));
    result.reserve(at(count));
    ir::Extents i{};
    for (i[0] = box[0].lo; i[0] < box[0].hi; ++i[0]) {
      for (i[1] = box[1].lo; i[1] < box[1].hi; ++i[1]) {
        for (i[2] = box[2].lo; i[2] < box[2].hi; ++i[2])
          result.push_back(static_cast<double>(data[at(array.layout.at(i) - begin)]));
      }
    }
    return result;
  }

  std::unique_ptr<History> make_history(const std::vector<ir::Save>& saves, std::int64_t slots) override {
    return std::make_unique<DeviceHistory>(device_, saves, slots,
                                           full_layout(setup_.domain, halo_, sizeof(Real)), sizeof(Real));
  }

  void bind(History& history, std::int64_t slot) override { kept_ = {&history, slot, 1, false}; }

  void keep(History& history, std::int64_t slot) const override {
    auto& kept = dynamic_cast<DeviceHistory&>(history);
    for (std::size_t s = 0; s < kept.saves().size(); ++s) {
      const ir::Field& field = set_.program.field(kept.saves()[s].field);
      if (field.saved) continue;  // written there by the step
      device_.copy(arrays_.at(field_key(field.name, this->slot(field, 0))).buffer, kept.buffer(s, slot));
    }
  }

  void set_field(const std::string& name, int level, std::span<const double> values) override {
    const ir::Field& field = set_.program.field(name);
    if (values.size() != at(setup_.domain.points())) {
      throw InternalError(
          fmt::format("field {}: {} values for {} points", name, values.size(), setup_.domain.points()));
    }
    auto& array = arrays_.at(field_key(name, slot(field, level)));
    std::vector<Real> data(at(array.layout.size), Real(0));
    each_live_row(field, [&](const ir::Extents& row, const ir::Range& live, std::int64_t flat) {
      for (std::int64_t i = live.lo; i < live.hi; ++i)
        data[at(array.layout.at(row) + i)] = static_cast<Real>(values[at(flat + i)]);
    });
    device_.upload(array.buffer, 0, data.data(), data.size() * sizeof(Real));
    const cuda::Scope scope(*device_.session());
    for (const cuda::KernelLaunch& launch : halos_.at(name).launches(array.buffer, halo_function_))
      device_.enqueue(launch, device_.stream());
  }

  std::vector<double> field(const std::string& name, int level) const override {
    const ir::Field& field = set_.program.field(name);
    const auto& array = arrays_.at(field_key(name, slot(field, level)));
    std::vector<Real> data(at(array.layout.size));
    device_.download(array.buffer, 0, data.data(), data.size() * sizeof(Real));
    std::vector<double> values(at(setup_.domain.points()));
    each_live_row(field, [&](const ir::Extents& row, const ir::Range& live, std::int64_t flat) {
      for (std::int64_t i = live.lo; i < live.hi; ++i)
        values[at(flat + i)] = static_cast<double>(data[at(array.layout.at(row) + i)]);
    });
    return values;
  }

  void set_points(std::vector<ir::PointSource> sources, std::vector<ir::PointReceiver> receivers) override {
    std::vector<CudaPoints::Deposit> deposits;
    for (std::size_t o = 0; o < set_.program.operations.size(); ++o) {
      const auto* injection = std::get_if<ir::Injection>(&set_.program.operations[o]);
      if (injection == nullptr) continue;
      for (std::size_t s = 0; s < sources.size(); ++s) {
        if (sources[s].source == injection->source)
          deposits.push_back({static_cast<int>(o), static_cast<int>(s), entries(*injection, sources[s])});
      }
    }
    CudaSeries series;
    series.count = receivers.size();
    std::vector<CudaPoints::Pickup> pickups;
    // In the order in which a step samples the fields: a receiver's parts add up in it.
    for (const ir::Stage& stage : set_.stages) {
      if (stage.operation < 0) continue;
      const auto* sample = std::get_if<ir::Sample>(&set_.program.operations[at(stage.operation)]);
      if (sample == nullptr) continue;
      const Layout& layout = arrays_.at(field_key(sample->field, 0)).layout;
      for (std::size_t r = 0; r < receivers.size(); ++r) {
        for (const ir::FieldTaps& part : receivers[r].parts) {
          if (part.field != sample->field) continue;
          pickups.push_back({part.field, static_cast<std::int64_t>(pickups.size()), {}});
          for (const ir::Tap& tap : part.taps)
            pickups.back().from.push_back({layout.at(tap.index), tap.weight});
          series.receivers.push_back(r);
        }
      }
    }
    for (ir::PointSource& source : sources) series.sources.push_back(std::move(source.samples));
    const bool was_stale = std::exchange(stale_, true);  // as an error on the way leaves it
    stepper_->set_series({});
    const bool changed = points_.set(deposits, series.sources.size(), pickups, pickups.size());
    stepper_->set_series(std::move(series));
    stale_ = was_stale || changed;
  }

  void step(std::int64_t n, std::span<double> samples) override {
    Watch watch;
    watch.receivers = samples.size();
    if (!samples.empty()) {
      watch.samples = [&](std::int64_t, std::span<const double> values) {
        std::copy(values.begin(), values.end(), samples.begin());
      };
    }
    const Kept kept = kept_;
    steps(n, 1, 1, watch, kept);
    finish(watch);
  }

  void steps(std::int64_t first, std::int64_t count, std::int64_t every, const Watch& watch,
             const Kept& kept) override {
    ready_steps(every);
    if (kept.history == nullptr) {
      parity_ = stepper_->run(first, count, every, parity_, watch);
      return;
    }
    auto& history = dynamic_cast<DeviceHistory&>(*kept.history);
    CudaHooks hooks;
    hooks.before = [&](CudaStep& step, std::int64_t number) {
      for (const CudaExternal& external : externals_) {
        const std::int64_t slot = kept.slot + number * kept.towards - (external.previous ? 1 : 0);
        bind_external(step, external, history, slot);
      }
    };
    hooks.after = [&](std::int64_t number) {
      if (two_levels_) parity_ = 1 - parity_;
      if (kept.keep) keep(history, kept.slot + number * kept.towards);
    };
    stepper_->run(first, count, every, parity_, watch, &hooks);
  }

  void watch_magnitude(std::int64_t step, const Watch& watch) override {
    magnitude_->ask(step, state_arrays(), watch);
  }

  void finish(const Watch& watch) override {
    stepper_->finish(watch);
    magnitude_->tell(watch);
  }

  std::int64_t stride() const override { return 48; }

  Snapshot save() const override {
    return save_fields(arrays_, device_, sizeof(Real), [this](const ArrayKey& key) { return level_of(key); });
  }

  void restore(const Snapshot& snapshot) override {
    restore_fields(snapshot, arrays_, device_, [this](const ArrayKey& key) { return level_of(key); });
  }

  double magnitude() const override { return magnitude_->now(state_arrays()); }

 private:
  /// Which slot holds a level now: second-order fields rotate.
  int slot(const ir::Field& field, int level) const {
    if (field.time_order != 2) return 0;
    return level == 0 ? parity_ : 1 - parity_;
  }

  /// The level an array holds now.
  int level_of(const ArrayKey& key) const {
    const bool levels = key.side < 0 && set_.program.field(key.name).time_order == 2;
    return levels && key.slot != parity_ ? -1 : 0;
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

  void upload_profiles() {
    const auto profiles = setup_.domain.profiles(setup_.layer);
    for (auto& [key, array] : arrays_.all()) {
      if (key.kind != ir::ArrayKind::profile) continue;
      const auto found = std::find_if(profiles.begin(), profiles.end(), [&k = key](const ir::Profile& p) {
        return p.name == k.name && p.axis == k.axis && p.half == k.half;
      });
      if (found == profiles.end()) throw InternalError("no profile " + key.name);
      const std::vector<Real> values(found->values.begin(), found->values.end());
      device_.upload(array.buffer, 0, values.data(), values.size() * sizeof(Real));
    }
  }

  std::vector<device::Weighted> entries(const ir::Injection& injection, const ir::PointSource& source) const {
    const ir::Field& target = set_.program.field(injection.field);
    const Layout& layout = arrays_.at(field_key(target.name, 0)).layout;
    const ir::Box live = setup_.domain.live(target);
    std::vector<device::Weighted> result;
    for (const ir::Tap& tap : source.taps) {
      // An adjoint's injection may feed another component than the one whose taps these are.
      bool lives = true;
      for (int axis = 0; axis < setup_.domain.dims; ++axis)
        lives = lives && tap.index[at(axis)] >= live[at(axis)].lo && tap.index[at(axis)] < live[at(axis)].hi;
      const std::int64_t along = tap.index[at(setup_.domain.dims - 1)];
      if (!lives || along < 0 || along >= setup_.domain.total(setup_.domain.dims - 1)) continue;
      const double factor =
          source.raw ? 1.0
                     : source_factor(injection.factor, setup_.symbols, *padded_, tap.index, &setup_.domain);
      result.push_back({layout.at(tap.index), factor * tap.weight});
    }
    return result;
  }

  void ready_steps(std::int64_t every) {
    const bool was_stale = std::exchange(stale_, true);
    stale_ = stepper_->reserve(every, points_.sources(), points_.rows()) || was_stale;
    if (!stale_) return;
    stepper_->set_steps({step_of(0), step_of(1)});
    stale_ = false;
  }

  /// The launches of one step while slot `parity` of second-order fields holds the present.
  CudaStep step_of(int parity) const {
    CudaStep step;
    const auto array = [&](const std::string& name, bool next) -> const Arrays::Array& {
      const bool rotates = set_.program.field(name).time_order == 2;
      return arrays_.at(field_key(name, rotates ? (next ? 1 - parity : parity) : 0));
    };
    for (const ir::Stage& stage : kernels_->program.stages) {
      if (stage.kernel >= 0) {
        CudaItem item{CudaItem::Kind::kernel, launches_[at(parity)][at(stage.kernel)], 0};
        item.number = stage.kernel;
        if (item.launch.grid[0] > 0) step.push_back(std::move(item));
        continue;
      }
      const ir::Operation& operation = set_.program.operations[at(stage.operation)];
      if (const auto* sample = std::get_if<ir::Sample>(&operation)) {
        const auto found = points_.records().find(sample->field);
        if (found != points_.records().end()) add_sample(step, found->second, array(sample->field, false));
      }
      if (const auto* injection = std::get_if<ir::Injection>(&operation)) {
        const auto found = points_.injections().find(stage.operation);
        if (found != points_.injections().end())
          add_injection(step, found->second, array(injection->field, true));
      }
      if (const auto* halo = std::get_if<ir::Halo>(&operation)) {
        for (cuda::KernelLaunch& launch :
             halos_.at(halo->field).launches(array(halo->field, true).buffer, halo_function_))
          step.push_back({CudaItem::Kind::kernel, std::move(launch), 0});
      }
    }
    return step;
  }

  static cuda::KernelLaunch over(cuda::Function function, std::int64_t count) {
    constexpr std::int64_t threads = 128;
    cuda::KernelLaunch launch;
    launch.function = function;
    launch.grid = {static_cast<std::uint32_t>((count + threads - 1) / threads), 1, 1};
    launch.block = {static_cast<std::uint32_t>(threads), 1, 1};
    return launch;
  }

  void add_sample(CudaStep& step, const CudaTaps& taps, const Arrays::Array& array) const {
    if (taps.groups == 0) return;
    CudaItem item{CudaItem::Kind::sample, over(sample_function_, taps.groups), 0};
    item.launch.add(cuda::address(array.buffer)).add(taps.cells.address()).add(taps.first.address());
    item.launch.add(taps.weight.address()).add(taps.of.address()).add(stepper_->record());
    item.launch.add(stepper_->clock());
    item.argument = item.launch.arguments.size();
    item.launch.add(std::int64_t{0}).add(taps.groups).add(points_.rows());
    step.push_back(std::move(item));
  }

  void add_injection(CudaStep& step, const CudaTaps& taps, const Arrays::Array& array) const {
    if (taps.groups == 0) return;
    CudaItem item{CudaItem::Kind::injection, over(inject_function_, taps.groups), 0};
    item.launch.add(cuda::address(array.buffer)).add(taps.cells.address()).add(taps.first.address());
    item.launch.add(taps.weight.address()).add(taps.of.address()).add(stepper_->samples());
    item.launch.add(stepper_->clock());
    item.argument = item.launch.arguments.size();
    item.launch.add(std::int64_t{0}).add(taps.groups).add(points_.sources());
    step.push_back(std::move(item));
  }

  static void bind_external(CudaStep& step, const CudaExternal& external, DeviceHistory& history,
                            std::int64_t slot) {
    const auto data = cuda::address(history.buffer(history.find(external.field), slot)) +
                      static_cast<cuda::DevicePointer>(history.layout().origin) * sizeof(Real);
    for (CudaItem& item : step) {
      if (item.number == static_cast<int>(external.kernel))
        item.launch.arguments.at(external.argument) = data;
    }
  }

  std::vector<CudaMagnitude::Array> state_arrays() const {
    std::vector<CudaMagnitude::Array> result;
    for (const ir::Field& field : set_.program.fields) {
      if (field.strip_axis >= 0 || field.saved) continue;
      const auto& array = arrays_.at(field_key(field.name, slot(field, 0)));
      result.push_back({cuda::address(array.buffer), array.layout.size});
    }
    return result;
  }

  ir::KernelSet set_;
  EngineSetup setup_;
  cuda::Device& device_;
  std::shared_ptr<const CudaKernels> kernels_;
  int halo_;
  std::unique_ptr<cuda::LoadedModule> module_;
  Arrays arrays_;
  CudaBinder binder_;
  CudaPoints points_;
  bool two_levels_ = false;
  bool stale_ = true;  ///< the stepper's launches are not those of the present points
  int parity_ = 0;
  const Models* models_ = nullptr;
  std::unique_ptr<PaddedModel> padded_;
  std::map<std::string, CudaHalo> halos_;
  std::array<std::vector<cuda::KernelLaunch>, 2> launches_;
  std::vector<CudaExternal> externals_;
  Kept kept_;  ///< what bind() told
  cuda::Function halo_function_ = nullptr, inject_function_ = nullptr, sample_function_ = nullptr;
  std::unique_ptr<CudaMagnitude> magnitude_;
  std::unique_ptr<CudaStepper> stepper_;
};

}  // namespace

std::size_t cuda_engine_bytes(const passes::Compilation& compilation, const ir::Domain& domain, DType dtype,
                              int least_halo, std::int64_t every, const PointCounts& points) {
  const ir::Program& program = compilation.kernels.program;
  const int halo = std::max(common_halo(compilation.kernels), least_halo);
  std::size_t bytes = compiled_engine_bytes(compilation, domain, dtype, least_halo), states = 0;
  for (const ir::Field& field : program.fields) {
    if (field.strip_axis >= 0 || field.saved) continue;
    ++states;
    if (!field.accumulator) bytes += CudaHalo::bytes(domain, field, program.first_order(), halo, dtype);
  }
  return bytes + CudaMagnitude::bytes(dtype, states) + CudaPoints::bytes(dtype, points) +
         CudaStepper::bytes(dtype, every, static_cast<std::int64_t>(points.sources),
                            static_cast<std::int64_t>(points.rows));
}

std::unique_ptr<Engine> make_cuda_engine(const passes::Compilation& compilation, const EngineSetup& setup,
                                         cuda::Device& device, std::shared_ptr<const CudaKernels> kernels,
                                         bool graphs) {
  passes::require_surface(compilation.physical, setup.domain);
  if (setup.dtype == DType::float32)
    return std::make_unique<CudaEngine<float>>(compilation, setup, device, std::move(kernels), graphs);
  return std::make_unique<CudaEngine<double>>(compilation, setup, device, std::move(kernels), graphs);
}

}  // namespace ondula::loop
