// Propagator: checks, compilation, and the loop over shots and steps.
// SPDX-License-Identifier: MIT
#include "runtime/propagator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "compiler/emit/host_text.hpp"
#include "compiler/emit/manifest.hpp"
#include "compiler/error.hpp"
#include "compiler/passes/pipeline.hpp"
#include "runtime/domain.hpp"
#include "runtime/io/wavelet.hpp"
#include "runtime/jit/host_compiler.hpp"
#include "runtime/loop/engine.hpp"
#include "runtime/shot_points.hpp"
#include "runtime/stability.hpp"

namespace ondula {
namespace {

using Clock = std::chrono::steady_clock;

double since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

/// Fields are checked for NaN and growth this often; a step is stopped within twice as many.
constexpr std::int64_t guard_interval = 50;
/// No physical amplitude is near this; float32 ends at 3.4e38.
constexpr double largest_amplitude = 1e30;
/// Automatic steps keep this distance from the limit; a given number of substeps may go up to the limit
/// itself.
constexpr double automatic_share = 0.95;
constexpr int most_substeps = 16;

void require_finite_time(const PropagatorOptions& o) {
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

std::string cell_text(const Grid& grid, const std::vector<std::int64_t>& cell) {
  std::string text;
  for (std::size_t a = 0; a < cell.size(); ++a)
    text += fmt::format("{}{} {}", a == 0 ? "" : ", ", grid.axes[a], cell[a]);
  return text;
}

}  // namespace

class Propagator::Impl {
 public:
  Impl(const EquationDefinition& equation, const Grid& grid, const PropagatorOptions& options)
      : grid_(grid), options_(options) {
    require_finite_time(options);
    passes::PipelineOptions pipeline{grid.axes, options.order, options.absorb.kappa > 1.0, false};
    domain_ = make_domain(grid, options.order);  // before compiling: a wrong grid need not wait
    const auto begin = Clock::now();
    compilation_ = passes::compile(equation, pipeline);
    timings_.compile = since(begin);
    if (!options.compile_later) compile();
  }

  void compile() {
    if (options_.backend == Backend::host && !module_) compile_kernels();
  }

  void set_model(const std::string& name, std::span<const double> values) {
    const ir::Parameter& parameter = find_parameter(name);
    std::int64_t nodes = 1;
    for (const std::int64_t n : grid_.shape) nodes *= n;
    if (static_cast<std::int64_t>(values.size()) != nodes) {
      throw UserError(fmt::format("model {}: {} values for a grid of ({}), which has {} nodes", name,
                                  values.size(), fmt::join(grid_.shape, ", "), nodes));
    }
    for (std::size_t i = 0; i < values.size(); ++i)
      require_allowed(parameter, values[i], static_cast<std::int64_t>(i));
    models_[name] = loop::ModelArray(values);
    models_changed_ = true;
  }

  void set_model(const std::string& name, double value) {
    require_allowed(find_parameter(name), value, -1);
    models_[name] = loop::ModelArray(value);
    models_changed_ = true;
  }

  void set_initial(const std::string& name, std::span<const double> values) {
    const auto [field, level] = initial_name(name);
    std::int64_t nodes = 1;
    for (const std::int64_t n : grid_.shape) nodes *= n;
    if (static_cast<std::int64_t>(values.size()) != nodes) {
      throw UserError(fmt::format("initial {}: {} values for a grid of ({}), which has {} nodes", name,
                                  values.size(), fmt::join(grid_.shape, ", "), nodes));
    }
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (!std::isfinite(values[i]))
        throw UserError(fmt::format("initial {}: value {} at index {}", name, values[i], i));
    }
    initial_[{field, level}] = padded(values);
  }

  std::map<std::string, std::vector<double>> state() const {
    std::map<std::string, std::vector<double>> result;
    if (!engine_) return result;
    for (const ir::Field& field : compilation_.physical.fields) {
      if (field.strip_axis >= 0) continue;
      result[field.name] = cropped(engine_->field(field.name, 0));
      if (field.time_order == 2) result[field.name + ".previous"] = cropped(engine_->field(field.name, -1));
    }
    return result;
  }

  Records forward(std::span<const Shot> shots) {
    timings_.first = timings_.steady = 0;
    timings_.steps = 0;
    warnings_.clear();
    const Speeds now = checked_speeds();
    // Every shot is checked before the first runs; taps are kept for one shot at a time, since off the grid a
    // point has hundreds.
    const auto count = static_cast<std::int64_t>(shots.size());
    for (std::int64_t s = 0; s < count; ++s) static_cast<void>(points_of(shots, s));
    compile();
    const auto entry = Clock::now();
    ready_engine(now, shots);
    Records records;
    for (std::int64_t s = 0; s < count; ++s) {
      ShotPoints points = points_of(shots, s);
      engine_->clear();
      for (const auto& [key, values] : initial_) engine_->set_field(key.first, key.second, values);
      engine_->set_points(std::move(points.sources), std::move(points.receivers));
      records.push_back(
          run_shot(shots[static_cast<std::size_t>(s)], s, count, s == 0 ? entry : Clock::now()));
    }
    finish_timings();
    return records;
  }

  Estimate estimate(std::span<const Shot> shots) const {
    Estimate e;
    const Speeds now = speeds(compilation_.physical, complete_models(), grid_.shape);
    e.fastest = now.fastest;
    e.slowest = now.slowest;
    e.fastest_cell = now.fastest_cell;
    e.cfl_limit = cfl_limit(options_.order, grid_.spacing, now.fastest);
    e.substeps = options_.substeps.value_or(std::max(
        1, static_cast<int>(std::min(1e6, std::ceil(options_.dt / (automatic_share * e.cfl_limit))))));
    e.dt = options_.dt / e.substeps;
    e.refusal = step_refusal(now);
    double top = 0;
    std::size_t largest_points = 0;
    for (const Shot& shot : shots) {
      for (const Source& source : shot.sources) {
        if (!source.wavelet.empty()) {
          top = std::max(top, io::series_facts(source.wavelet, options_.t0, options_.dt).top_frequency);
        }
      }
      // Records of every shot stay; taps and wavelets are those of one shot at a time.
      const auto samples = static_cast<std::size_t>(options_.steps);
      e.host_bytes += shot.receivers.size() * samples * sizeof(double);
      largest_points =
          std::max(largest_points, points_bytes(compilation_.physical, grid_, options_.steps, shot));
    }
    e.host_bytes += largest_points;
    const double coarsest = *std::max_element(grid_.spacing.begin(), grid_.spacing.end());
    if (top > 0) e.points_per_wavelength = now.slowest / (top * coarsest);
    e.points = 1;
    for (const std::int64_t n : grid_.shape) e.points *= n;
    e.padded_points = domain_.points();
    if (options_.backend == Backend::host) {
      e.device_bytes = loop::compiled_engine_bytes(compilation_, domain_, options_.dtype);
    }
    for (const auto& [name, array] : models_) e.host_bytes += array.bytes();
    const double element = options_.dtype == DType::float32 ? 4 : 8;
    for (const ir::Kernel& kernel : compilation_.kernels.kernels) {
      for (std::size_t p = 0; p < kernel.pieces.size(); ++p) {
        if (kernel.pieces[p].region.kind == ir::RegionKind::live)
          e.work_bytes_per_point += element * kernel.costs[p].streams;
      }
    }
    return e;
  }

  void on_step(std::int64_t every, std::function<void(const StepView&)> callback) {
    if (every < 0) throw UserError(fmt::format("a callback every {} steps", every));
    every_ = every;
    callback_ = std::move(callback);
  }

  const Timings& timings() const { return timings_; }
  std::size_t device_bytes_peak() const { return device_ ? device_->bytes_peak() : 0; }
  const std::vector<std::string>& warnings() const { return warnings_; }

  double time_offset(const std::string& field) const {
    return compilation_.physical.field(field).half_step ? -0.5 * options_.dt : 0.0;
  }

 private:
  void compile_kernels() {
    const auto begin = Clock::now();
    const emit::Real real = options_.dtype == DType::float32 ? emit::Real::float32 : emit::Real::float64;
    if (!options_.compiler)
      options_.compiler = std::make_shared<jit::HostCompiler>(options_.cache, options_.log);
    module_ = options_.compiler->compile({emit::host_text(compilation_.kernels, real),
                                          compilation_.physical.equation,
                                          {},
                                          emit::manifest(compilation_.kernels, real)});
    timings_.compile += since(begin);
    timings_.compiled = !module_->record().cache_hit;
  }

  const ir::Parameter& find_parameter(const std::string& name) const {
    std::vector<std::string> known;
    for (const ir::Parameter& p : compilation_.physical.parameters) {
      if (p.name == name) return p;
      known.push_back(p.name);
    }
    throw UserError(fmt::format("equation {} has no parameter {}; it has: {}", compilation_.physical.equation,
                                name, fmt::join(known, ", ")));
  }

  void require_allowed(const ir::Parameter& parameter, double value, std::int64_t flat) const {
    const bool fits = std::isfinite(value) && (parameter.sign != ir::Sign::positive || value > 0) &&
                      (parameter.sign != ir::Sign::nonnegative || value >= 0);
    if (fits) return;
    static constexpr std::array<const char*, 3> words = {"finite", "0 or more", "positive"};
    std::string where;
    if (flat >= 0) {
      std::vector<std::int64_t> cell(grid_.shape.size());
      for (std::size_t a = cell.size(); a-- > 0;) {
        cell[a] = flat % grid_.shape[a];
        flat /= grid_.shape[a];
      }
      where = " at cell (" + cell_text(grid_, cell) + ")";
    }
    throw UserError(fmt::format("model {}: {} {}{}; it must be {}", parameter.name, value, parameter.unit,
                                where, words[static_cast<std::size_t>(parameter.sign)]));
  }

  std::pair<std::string, int> initial_name(const std::string& name) const {
    std::vector<std::string> known;
    for (const ir::Field& field : compilation_.physical.fields) {
      if (field.strip_axis >= 0) continue;
      if (field.name == name) return {field.name, 0};
      known.push_back(field.name);
      if (field.time_order != 2) continue;
      known.push_back(field.name + ".previous");
      if (known.back() == name) return {field.name, -1};
    }
    throw UserError(fmt::format("no initial state {}; there are: {}", name, fmt::join(known, ", ")));
  }

  const loop::Models& complete_models() const {
    for (const ir::Parameter& p : compilation_.physical.parameters) {
      if (!models_.contains(p.name)) {
        throw UserError(fmt::format("equation {} needs the model {} ({})", compilation_.physical.equation,
                                    p.name, p.unit));
      }
    }
    return models_;
  }

  /// The limit is checked on every call, on the models of that call.
  Speeds checked_speeds() const {
    const Speeds now = speeds(compilation_.physical, complete_models(), grid_.shape);
    const std::string refusal = step_refusal(now);
    if (!refusal.empty()) throw UserError(refusal);
    return now;
  }

  /// Why a run of these speeds cannot take its step; empty where it can.
  std::string step_refusal(const Speeds& now) const {
    const double limit = cfl_limit(options_.order, grid_.spacing, now.fastest);
    const double share = options_.substeps ? 1.0 : automatic_share;
    const double most = limit * share;
    const int r = options_.substeps.value_or(1);
    if (options_.dt / r > most * (1 + 1e-12)) {
      const double needed = std::ceil(options_.dt / (automatic_share * limit));
      return fmt::format(
          "dt = {:.6g} s is over the stability limit: {:.6g} s for {:.6g} m/s at cell ({}), order {}{}; it "
          "would take {:.0f} "
          "substeps and {:.3g} MB of device memory; this version takes steps of dt only: lower dt to {:.6g} "
          "s",
          options_.dt / r, limit, now.fastest, cell_text(grid_, now.fastest_cell), options_.order,
          options_.substeps ? "" : " (automatic steps take 0.95 of it)", needed,
          static_cast<double>(loop::compiled_engine_bytes(compilation_, domain_, options_.dtype)) / 1e6,
          most);
    }
    return r == 1 ? "" : fmt::format("substeps = {}: this version takes 1", r);
  }

  ShotPoints points_of(std::span<const Shot> shots, std::int64_t number) const {
    return shot_points(compilation_.physical, domain_, grid_, options_.steps,
                       shots[static_cast<std::size_t>(number)], number);
  }

  /// c_max and f_c are fixed by the first call (numerics.md, Time).
  void ready_engine(const Speeds& now, std::span<const Shot> shots) {
    // A first call without sources knows no frequency; the first that does decides.
    const bool undecided = frequency_open_ && dominant_frequency(shots) > 0;
    if (!engine_ || undecided) {
      engine_.reset();
      frequency_open_ = !options_.absorb.frequency && dominant_frequency(shots) == 0;
      loop::EngineSetup setup;
      setup.domain = domain_;
      setup.symbols["dt"] = options_.dt;
      for (std::size_t a = 0; a < grid_.axes.size(); ++a)
        setup.symbols["h_" + grid_.axes[a]] = grid_.spacing[a];
      setup.layer.dt = options_.dt;
      setup.layer.velocity = options_.absorb.velocity.value_or(now.fastest);
      setup.layer.frequency = options_.absorb.frequency.value_or(dominant_frequency(shots));
      setup.layer.reflection = options_.absorb.reflection.value_or(0);
      setup.layer.kappa = options_.absorb.kappa;
      setup.dtype = options_.dtype;
      if (options_.backend == Backend::reference) {
        engine_ = loop::make_reference_engine(compilation_, setup);
      } else {
        device_ = device::make_host_device(options_.threads, options_.poison);
        engine_ = loop::make_compiled_engine(compilation_, setup, *device_, module_);
      }
      models_changed_ = true;
    }
    if (models_changed_) engine_->set_models(models_);
    models_changed_ = false;
  }

  /// The lowest of the wavelets' spectral peaks; 0 without sources.
  double dominant_frequency(std::span<const Shot> shots) const {
    double lowest = 0;
    for (const Shot& shot : shots) {
      for (const Source& source : shot.sources) {
        if (source.wavelet.empty()) continue;
        const double f = io::series_facts(source.wavelet, options_.t0, options_.dt).dominant_frequency;
        if (f > 0 && (lowest == 0 || f < lowest)) lowest = f;
      }
    }
    return lowest;
  }

  std::map<std::string, Traces> run_shot(const Shot& shot, std::int64_t number, std::int64_t shots,
                                         Clock::time_point begin) {
    std::map<std::string, Traces> result;
    std::vector<std::pair<Traces*, std::int64_t>> rows;
    for (const Receiver& receiver : shot.receivers) result[receiver.field].receivers += 1;
    for (auto& [field, traces] : result) {
      traces.samples = options_.steps;
      traces.data.assign(static_cast<std::size_t>(traces.receivers * traces.samples), 0.0);
      traces.receivers = 0;
    }
    for (const Receiver& receiver : shot.receivers) {
      Traces& traces = result[receiver.field];
      rows.emplace_back(&traces, traces.receivers++);
    }
    std::vector<double> samples(shot.receivers.size());
    double callbacks = 0;
    for (std::int64_t n = 0; n < options_.steps; ++n) {
      if (options_.cancel && options_.cancel()) {
        throw Cancelled(fmt::format("cancelled at step {} of shot {}", n, number));
      }
      if (callback_ && every_ > 0 && n % every_ == 0) callbacks += call_back(number, n);
      engine_->step(n, samples);
      for (std::size_t r = 0; r < samples.size(); ++r) {
        const auto [traces, row] = rows[r];
        traces->data[static_cast<std::size_t>(row * traces->samples + n)] = samples[r];
      }
      if ((n + 1) % guard_interval == 0 || n + 1 == options_.steps) guard(number, n);
      if (n == 0 && number == 0) {
        timings_.first = since(begin) - callbacks;
        callbacks = 0;
        begin = Clock::now();
      }
      if (options_.progress && (n % 10 == 0 || n + 1 == options_.steps)) {
        options_.progress({number, shots, n + 1, options_.steps});
      }
    }
    timings_.steady += since(begin) - callbacks;
    timings_.steps += options_.steps - (number == 0 && options_.steps > 0 ? 1 : 0);
    return result;
  }

  /// The seconds it took.
  double call_back(std::int64_t shot, std::int64_t step) {
    const auto begin = Clock::now();
    callback_(
        {shot, step, options_.t0 + static_cast<double>(step) * options_.dt, [this](const std::string& name) {
           const auto [field, level] = initial_name(name);
           return cropped(engine_->field(field, level));
         }});
    return since(begin);
  }

  void guard(std::int64_t shot, std::int64_t step) const {
    const double size = engine_->magnitude();
    if (size <= largest_amplitude) return;
    throw RuntimeError(
        fmt::format("shot {}: at step {} (t = {:.6g} s) a field {}; the run is stopped. Check the model and "
                    "the wavelet's amplitude",
                    shot, step + 1, options_.t0 + static_cast<double>(step + 1) * options_.dt,
                    std::isnan(size) ? "is no longer finite" : fmt::format("has grown to {:.3g}", size)));
  }

  void finish_timings() {
    double points = 1;
    for (const std::int64_t n : grid_.shape) points *= static_cast<double>(n);
    const double rate = timings_.steady > 0 ? static_cast<double>(timings_.steps) / timings_.steady : 0;
    timings_.gpoints_per_s = points * rate / 1e9;
    timings_.padded_gpoints_per_s = static_cast<double>(domain_.points()) * rate / 1e9;
  }

  /// Visits model nodes: f(flat index on the padded domain, flat index on the grid).
  template <class F>
  void each_node(const F& f) const {
    ir::Extents i{};
    std::int64_t flat = 0;
    for (i[0] = 0; i[0] < domain_.shape[0]; ++i[0]) {
      for (i[1] = 0; i[1] < domain_.shape[1]; ++i[1]) {
        for (i[2] = 0; i[2] < domain_.shape[2]; ++i[2]) {
          std::int64_t at = 0;
          for (int a = 0; a < ir::max_axes; ++a) {
            const auto axis = static_cast<std::size_t>(a);
            at = at * domain_.total(a) + i[axis] + domain_.pad[axis][0];
          }
          f(static_cast<std::size_t>(at), static_cast<std::size_t>(flat++));
        }
      }
    }
  }

  std::vector<double> padded(std::span<const double> values) const {
    std::vector<double> result(static_cast<std::size_t>(domain_.points()), 0.0);
    each_node([&](std::size_t at, std::size_t flat) { result[at] = values[flat]; });
    return result;
  }

  std::vector<double> cropped(const std::vector<double>& values) const {
    std::vector<double> result(
        static_cast<std::size_t>(domain_.shape[0] * domain_.shape[1] * domain_.shape[2]));
    each_node([&](std::size_t at, std::size_t flat) { result[flat] = values[at]; });
    return result;
  }

  Grid grid_;
  PropagatorOptions options_;
  ir::Domain domain_;
  passes::Compilation compilation_;
  std::shared_ptr<const jit::HostModule> module_;
  std::unique_ptr<device::Device> device_;
  std::unique_ptr<loop::Engine> engine_;
  loop::Models models_;
  bool models_changed_ = true;
  bool frequency_open_ = false;  ///< f_c waits for the first call with sources
  std::map<std::pair<std::string, int>, std::vector<double>> initial_;
  std::int64_t every_ = 0;
  std::function<void(const StepView&)> callback_;
  Timings timings_;
  std::vector<std::string> warnings_;
};

Propagator::Propagator(const EquationDefinition& equation, const Grid& grid, const PropagatorOptions& options)
    : impl_(std::make_unique<Impl>(equation, grid, options)) {}
Propagator::~Propagator() = default;
Propagator::Propagator(Propagator&&) noexcept = default;
Propagator& Propagator::operator=(Propagator&&) noexcept = default;
void Propagator::compile() { impl_->compile(); }
void Propagator::set_model(const std::string& name, std::span<const double> values) {
  impl_->set_model(name, values);
}
void Propagator::set_model(const std::string& name, double value) { impl_->set_model(name, value); }
void Propagator::set_initial(const std::string& name, std::span<const double> values) {
  impl_->set_initial(name, values);
}
std::map<std::string, std::vector<double>> Propagator::state() const { return impl_->state(); }
Records Propagator::forward(std::span<const Shot> shots) { return impl_->forward(shots); }
void Propagator::on_step(std::int64_t every, std::function<void(const StepView&)> callback) {
  impl_->on_step(every, std::move(callback));
}
Estimate Propagator::estimate(std::span<const Shot> shots) const { return impl_->estimate(shots); }
const Timings& Propagator::timings() const { return impl_->timings(); }
std::size_t Propagator::device_bytes_peak() const { return impl_->device_bytes_peak(); }
double Propagator::time_offset(const std::string& field) const { return impl_->time_offset(field); }
const std::vector<std::string>& Propagator::warnings() const { return impl_->warnings(); }

}  // namespace ondula
