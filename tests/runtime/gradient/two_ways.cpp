// Runs below the Propagator, as it would do them.
// SPDX-License-Identifier: MIT
#include "tests/runtime/gradient/two_ways.hpp"

#include <algorithm>
#include <cmath>
#include <memory>

#include "compiler/passes/differentiate.hpp"
#include "runtime/adjoint_points.hpp"
#include "runtime/domain.hpp"
#include "runtime/jit/host_compiler.hpp"
#include "runtime/loop/arrays.hpp"
#include "tests/equations/engines.hpp"
#include "tests/support/compare.hpp"

namespace ondula::test {
namespace {

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

std::size_t flat_of(const ir::Domain& domain, const ir::Extents& i) {
  return at((i[0] * domain.total(1) + i[1]) * domain.total(2) + i[2]);
}

template <class F>
void each_entry(const ir::Box& box, const F& f) {
  ir::Extents i{};
  for (i[0] = box[0].lo; i[0] < box[0].hi; ++i[0]) {
    for (i[1] = box[1].lo; i[1] < box[1].hi; ++i[1]) {
      for (i[2] = box[2].lo; i[2] < box[2].hi; ++i[2]) f(i);
    }
  }
}

/// The fields of the forward run and the levels that a step finds.
template <class F>
void each_level(const ir::Program& program, const F& f) {
  for (const ir::Field& field : program.fields) {
    if (field.strip_axis >= 0 || field.saved) continue;
    for (int level = 0; level >= (field.time_order == 2 ? -1 : 0); --level) f(field, level);
  }
}

/// Engines of one run, of which the kernels' device is one.
class Engines {
 public:
  explicit Engines(const TwoWays& run) : run_(run), models_(run.arrays()) {
    if (!run.reference) device_ = device::make_host_device(2, true);
  }

  std::unique_ptr<loop::Engine> make(const passes::Compilation& compilation, int least_halo = 0) {
    const loop::EngineSetup setup = run_.setup(least_halo);
    std::unique_ptr<loop::Engine> engine;
    if (run_.reference) {
      engine = loop::make_reference_engine(compilation, setup);
    } else {
      const std::string text = emit::host_text(compilation.kernels, emit::Real::float64);
      const std::string manifest = emit::manifest(compilation.kernels, emit::Real::float64);
      engine = loop::make_compiled_engine(
          compilation, setup, *device_,
          jit::HostCompiler().compile({text, compilation.physical.equation, {}, manifest}));
    }
    engine->set_models(models_);
    return engine;
  }

 private:
  const TwoWays& run_;
  loop::Models models_;
  std::unique_ptr<device::Device> device_;
};

void set_start(loop::Engine& engine, const States& start) {
  engine.clear();
  for (const auto& [place, values] : start) engine.set_field(place.first, place.second, values);
}

/// factor * weight of the node, times the adjoint's variables: dJ/dfield at `level`.
std::vector<double> recovered(const ir::Adjoint& adjoint, const TwoWays& run,
                              const loop::Sensitivity& sensitivity, const loop::Engine& back,
                              const ir::Field& field, int level) {
  const auto variable = std::find_if(adjoint.variables.begin(), adjoint.variables.end(),
                                     [&](const ir::AdjointVariable& v) { return v.field == field.name; });
  const ir::Box box = run.domain.live(field);
  std::vector<double> result(at(run.domain.points()), 0.0);
  for (const auto& [factor, state] : variable->value.terms) {
    const ir::Expr whole = level < 0 ? adjoint.forward.pool->product({variable->previous, factor}) : factor;
    const std::vector<double> values = back.field(state, level), factors = sensitivity.values(whole, box);
    std::size_t k = 0;
    each_entry(box, [&](const ir::Extents& i) {
      const double weight =
          node_weight(run.domain, {&field}, field.stagger, adjoint.forward.first_order(), i);
      result[flat_of(run.domain, i)] += weight * factors[k++] * values[flat_of(run.domain, i)];
    });
  }
  return result;
}

/// The chain rule at the end, as runtime/propagator_gather.cpp has it.
void gather(const ir::Adjoint& adjoint, const TwoWays& run, const loop::Sensitivity& sensitivity,
            const loop::Engine& back, const AdjointPoints& points, loop::ModelGradient& models) {
  for (const ir::CoefficientGradient& gradient : adjoint.gradients) {
    std::vector<const ir::Field*> fields;
    for (const std::string& name : gradient.of) fields.push_back(&adjoint.forward.field(name));
    const ir::Box box = run.domain.live(adjoint.program.field(gradient.value.terms.front().second));
    std::vector<double> cotangent;
    each_entry(box, [&](const ir::Extents&) { cotangent.push_back(0); });
    for (const auto& [factor, accumulator] : gradient.value.terms) {
      const std::vector<double> sums = back.values(accumulator, box),
                                factors = sensitivity.values(factor, box);
      for (std::size_t k = 0; k < sums.size(); ++k) cotangent[k] += sums[k] == 0 ? 0 : sums[k] * factors[k];
    }
    for (const ir::StartTerm& term : gradient.starts) {
      const std::vector<double> last = back.field(term.state, term.level),
                                factors = sensitivity.values(term.factor, box);
      const std::vector<double>& start = run.start.at({term.field, term.level});
      std::size_t k = 0;
      each_entry(box, [&](const ir::Extents& i) {
        const std::size_t flat = flat_of(run.domain, i);
        cotangent[k] += factors[k] * last[flat] * start[flat];
        ++k;
      });
    }
    std::size_t k = 0;
    each_entry(box, [&](const ir::Extents& i) {
      cotangent[k++] *= node_weight(run.domain, fields, gradient.stagger, adjoint.forward.first_order(), i);
    });
    sensitivity.transpose(gradient.coefficient, box, cotangent, models);
    if (!gradient.injected) continue;
    for (const auto& [index, sum] : points.injected(gradient.of.front())) {
      const double value = sensitivity.value(gradient.coefficient, index);
      sensitivity.transpose(gradient.coefficient, index, -sum / value, models);
    }
  }
}

AdjointSources by_fields(const Shot& shot, std::int64_t steps, const std::vector<double>& residual) {
  AdjointSources sources;
  const std::vector<TracePlace> places = trace_places(shot);
  for (std::size_t r = 0; r < places.size(); ++r) {
    Traces& traces = sources[places[r].field];
    traces.samples = steps;
    traces.receivers = std::max(traces.receivers, places[r].row + 1);
    traces.data.resize(at(traces.receivers * steps));
    for (std::int64_t n = 0; n < steps; ++n)
      traces.data[at(places[r].row * steps + n)] = residual[at(n) * places.size() + r];
  }
  return sources;
}

/// An entry of a state or of its adjoint.
struct Entry {
  std::string field;
  int level = 0;
  std::size_t flat = 0;
};

std::vector<Entry> entries(const ir::Program& program, const ir::Domain& domain) {
  std::vector<Entry> result;
  each_level(program, [&](const ir::Field& field, int level) {
    each_entry(domain.live(field),
               [&](const ir::Extents& i) { result.push_back({field.name, level, flat_of(domain, i)}); });
  });
  return result;
}

void set_unit(loop::Engine& engine, const ir::Domain& domain, const Entry& entry) {
  std::vector<double> values(at(domain.points()), 0.0);
  values[entry.flat] = 1;
  engine.clear();
  engine.set_field(entry.field, entry.level, values);
}

void append(std::vector<double>& column, const States& states, const std::vector<Entry>& entries) {
  for (const Entry& e : entries) column.push_back(states.at({e.field, e.level})[e.flat]);
}

}  // namespace

loop::EngineSetup TwoWays::setup(int least_halo) const {
  loop::EngineSetup setup;
  setup.domain = domain;
  setup.symbols["dt"] = dt;
  for (std::size_t a = 0; a < axes.size(); ++a) setup.symbols["h_" + axes[a]] = domain.spacing[a];
  setup.layer.dt = dt;
  setup.layer.velocity = 2500;
  setup.layer.frequency = 20;
  setup.dtype = DType::float64;
  setup.least_halo = least_halo;
  return setup;
}

loop::Models TwoWays::arrays() const {
  loop::Models result;
  for (const auto& [name, values] : models) result[name] = loop::ModelArray(values);
  return result;
}

TwoWays two_ways(const ir::Program& physical, const ir::Domain& domain, const Ranges& ranges, unsigned seed,
                 bool raw) {
  TwoWays run;
  run.domain = domain;
  run.axes = physical.axes;
  Random random(seed);
  for (const ir::Parameter& p : physical.parameters) {
    const auto [low, high] = ranges.at(p.name);
    run.models[p.name] = scattered(domain, low, high, ++seed);
  }
  const auto taps = [&](const ir::Field& field, double size) {
    const ir::Box live = domain.live(field);
    std::vector<ir::Tap> result(2);
    for (ir::Tap& tap : result) {
      tap.weight = size * random.normal();
      for (std::size_t a = 0; a < live.size(); ++a)
        tap.index[a] =
            live[a].lo + static_cast<std::int64_t>(random.uniform() * static_cast<double>(live[a].size()));
    }
    return result;
  };
  const loop::Models models = run.arrays();
  const loop::Sensitivity sensitivity(run.domain, run.setup().symbols, models);
  each_level(physical, [&](const ir::Field& field, int level) {
    run.start[{field.name, level}] = padded_noise(domain, -1, 1, ++seed);
    if (level < 0) return;
    run.shot.receivers.push_back({field.name, {}});
    run.points.receivers.emplace_back(field.name, taps(field, 1));
  });
  for (const ir::Operation& operation : physical.operations) {
    const auto* injection = std::get_if<ir::Injection>(&operation);
    if (injection == nullptr) continue;
    std::vector<ir::Tap> own = taps(physical.field(injection->field), 1);
    // Of the size of the fields.
    const double factor = sensitivity.value(injection->factor, own[0].index);
    for (ir::Tap& tap : own) tap.weight /= raw ? 1 : factor;
    const std::vector<double> wavelet = noise(random, at(run.steps));
    run.points.sources.push_back(
        {injection->source, own, wavelet, raw, 0, static_cast<int>(run.shot.sources.size())});
    run.shot.sources.push_back({injection->source, {}, wavelet});
  }
  return run;
}

std::vector<double> records_of(const passes::Compilation& forward, const TwoWays& run) {
  Engines engines(run);
  const auto engine = engines.make(forward);
  set_start(*engine, run.start);
  engine->set_points(run.points.sources, run.points.receivers);
  std::vector<double> records, samples(run.points.receivers.size());
  for (std::int64_t n = 0; n < run.steps; ++n) {
    engine->step(n, samples);
    records.insert(records.end(), samples.begin(), samples.end());
  }
  return records;
}

std::vector<double> tangent_of(const passes::BornCompilation& born, const TwoWays& run,
                               const Arrays& change) {
  Engines engines(run);
  const auto engine = engines.make(born.step);
  engine->set_perturbation(change);
  set_start(*engine, run.start);
  std::vector<ir::PointReceiver> receivers = run.points.receivers;
  for (ir::PointReceiver& r : receivers) {
    for (ir::FieldTaps& part : r.parts) part.field = born.tangent.derivative_of(part.field);
  }
  engine->set_points(run.points.sources, receivers);
  std::vector<double> records, samples(receivers.size());
  for (std::int64_t n = 0; n < run.steps; ++n) {
    engine->step(n, samples);
    records.insert(records.end(), samples.begin(), samples.end());
  }
  return records;
}

Derivatives derivatives_of(const passes::AdjointCompilation& both, const TwoWays& run,
                           const std::vector<double>& residual) {
  Engines engines(run);
  const int halo = run.reference ? 0
                                 : std::max(loop::common_halo(both.forward.kernels),
                                            loop::common_halo(both.backward.kernels));
  const auto ahead = engines.make(both.forward, halo), back = engines.make(both.backward, halo);
  const auto history = ahead->make_history(both.adjoint.saves, run.steps + 1);
  ahead->stand(*history, 0);
  set_start(*ahead, run.start);
  ahead->set_points(run.points.sources, {});
  ahead->keep(*history, 0);
  ahead->steps(0, run.steps, 1, {}, {history.get(), loop::Kept::Way::keep});

  const loop::Models models = run.arrays();
  const loop::Sensitivity sensitivity(run.domain, run.setup().symbols, models);
  AdjointPoints points(both.adjoint, run.domain, sensitivity, run.shot, run.points, 1);
  back->clear();
  back->set_points(points.residuals(by_fields(run.shot, run.steps, residual), run.steps), points.taps());
  loop::Watch watch;
  watch.receivers = points.taps().size();
  watch.samples = [&](std::int64_t j, std::span<const double> found) {
    points.collect(run.steps - 1 - j, found);
  };
  back->steps(0, run.steps, 1, watch, {history.get(), loop::Kept::Way::backward, 0, run.steps});
  back->finish(watch);

  Derivatives result;
  loop::ModelGradient gradient;
  for (const auto& [name, values] : run.models) gradient.arrays[name].assign(values.size(), 0.0);
  gather(both.adjoint, run, sensitivity, *back, points, gradient);
  points.strengths(gradient);
  result.models = gradient.arrays;
  result.wavelets = points.wavelets();
  each_level(both.adjoint.forward, [&](const ir::Field& field, int level) {
    result.start[{field.name, level}] = recovered(both.adjoint, run, sensitivity, *back, field, level);
  });
  return result;
}

double StepMatrices::transposition_error() const {
  std::map<std::pair<std::size_t, std::size_t>, std::pair<double, double>> blocks;  // difference, size
  for (std::size_t c = 0; c < size; ++c) {
    for (std::size_t i = 0; i < size; ++i) {
      double sum = 0, terms = 0;
      for (std::size_t k = 0; k < size; ++k) {
        const double term = forward[i * size + k] * before[c * size + k];
        sum += term;
        terms += std::fabs(term);
      }
      auto& [difference, largest] = blocks[{block[i], block[c]}];
      difference = detail::worse(difference, std::fabs(after[c * size + i] - sum));
      largest = std::max(largest, terms);
    }
  }
  double worst = 0;
  for (const auto& [place, found] : blocks) {
    const auto& [difference, largest] = found;
    if (difference > 0) worst = detail::worse(worst, difference / (largest > 0 ? largest : max_abs(after)));
  }
  return worst;
}

StepMatrices step_matrices(const ir::Adjoint& adjoint, const TwoWays& run) {
  Engines engines(run);
  passes::Compilation forward, backward;
  forward.physical = adjoint.forward;
  backward.physical = adjoint.program;
  const auto ahead = engines.make(forward), back = engines.make(backward);
  const loop::Models models = run.arrays();
  const loop::Sensitivity sensitivity(run.domain, run.setup().symbols, models);
  const std::vector<Entry> all = entries(adjoint.forward, run.domain);
  StepMatrices m;
  m.size = all.size();
  for (std::size_t i = 0; i < all.size(); ++i) {
    const bool same = i > 0 && all[i].field == all[i - 1].field && all[i].level == all[i - 1].level;
    m.block.push_back(i == 0 ? 0 : m.block.back() + (same ? 0 : 1));
  }
  for (const Entry& e : all) {
    set_unit(*ahead, run.domain, e);
    ahead->step(0, {});
    States found;
    each_level(adjoint.forward, [&](const ir::Field& field, int level) {
      found[{field.name, level}] = ahead->field(field.name, level);
    });
    append(m.forward, found, all);
    const auto adjoints = [&] {
      States states;
      each_level(adjoint.forward, [&](const ir::Field& field, int level) {
        states[{field.name, level}] = recovered(adjoint, run, sensitivity, *back, field, level);
      });
      return states;
    };
    set_unit(*back, run.domain, e);
    append(m.before, adjoints(), all);
    back->step(0, {});
    append(m.after, adjoints(), all);
  }
  return m;
}

passes::AdjointCompilation adjoint_of(const ir::Program& physical, bool unscaled) {
  passes::AdjointCompilation both;
  both.adjoint = passes::differentiate(physical, unscaled);
  both.forward.physical = both.adjoint.forward;
  both.backward.physical = both.adjoint.program;
  return both;
}

}  // namespace ondula::test
