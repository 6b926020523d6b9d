// Runs the example of standalone sources, forward and back.
// SPDX-License-Identifier: MIT
#include "runtime/standalone_values.hpp"

#include <algorithm>
#include <cmath>

#include "runtime/adjoint_points.hpp"
#include "runtime/domain.hpp"
#include "runtime/loop/engine.hpp"
#include "runtime/loop/sensitivity.hpp"
#include "runtime/machine.hpp"
#include "runtime/propagator.hpp"

namespace ondula {
namespace {

/// The case as engines take it.
struct Run {
  loop::EngineSetup setup;
  loop::Models models;
  std::vector<ir::PointSource> sources;
  std::vector<ir::PointReceiver> receivers;

  Run(const ir::Program& program, const emit::StandaloneCase& example, DType dtype) {
    setup.domain = example.domain;
    setup.layer = example.layer;
    setup.dtype = dtype;
    setup.symbols["dt"] = example.layer.dt;
    double volume = 1;
    std::int64_t count = 1;
    for (int a = 0; a < program.dims(); ++a) {
      const auto axis = static_cast<std::size_t>(a);
      setup.symbols["h_" + program.axes[axis]] = example.domain.spacing[axis];
      volume *= example.domain.spacing[axis];
      count *= example.domain.shape[axis];
    }
    for (const emit::StandaloneModel& model : example.models) {
      std::vector<double> values;
      for (std::int64_t k = 0; k < count; ++k)
        values.push_back(model.base + model.step * static_cast<double>(k % 7));
      models[model.name] = loop::ModelArray(values);
    }
    for (const emit::StandaloneSource& source : example.sources) {
      ir::PointSource point;
      point.source = source.source;
      point.taps = {{source.node, source.strength / volume}};
      for (std::int64_t n = 0; n < example.steps; ++n) point.samples.push_back(emit::standalone_pulse(n));
      sources.push_back(std::move(point));
    }
    for (const emit::StandaloneProbe& probe : example.probes)
      receivers.emplace_back(probe.field, std::vector<ir::Tap>{{probe.node, 1.0}});
  }
};

std::vector<double> looks(loop::Engine& engine, const Run& run, const emit::StandaloneCase& example) {
  engine.set_models(run.models);
  engine.set_points(run.sources, run.receivers);
  std::vector<double> samples(run.receivers.size());
  std::vector<double> found;
  for (std::int64_t n = 0; n < example.steps; ++n) {
    engine.step(n, samples);
    if (n % example.every == 0) found.insert(found.end(), samples.begin(), samples.end());
  }
  return found;
}

/// What the example weighs its records with, as traces of every step.
AdjointSources residuals(const emit::StandaloneCase& example) {
  const std::vector<double> peaks = emit::standalone_peaks(example);
  AdjointSources result;
  for (std::size_t p = 0; p < example.probes.size(); ++p) {
    Traces& traces = result[example.probes[p].field];
    traces.samples = example.steps;
    traces.data.resize(traces.data.size() + static_cast<std::size_t>(example.steps), 0.0);
    double* const trace = traces.data.data() + traces.receivers++ * example.steps;
    for (std::int64_t n = 0; n < example.steps; n += example.every) {
      const std::size_t value = static_cast<std::size_t>(n / example.every) * example.probes.size() + p;
      trace[n] = emit::standalone_residual(value, peaks[p]);
    }
  }
  return result;
}

/// dJ/dcoefficient at every entry, with the weights of its nodes.
std::vector<double> cotangents(const ir::Adjoint& adjoint, const ir::CoefficientGradient& gradient,
                               const ir::Domain& domain, const loop::Sensitivity& sensitivity,
                               const loop::Engine& back, const ir::Box& box) {
  std::vector<const ir::Field*> fields;
  for (const std::string& name : gradient.of) fields.push_back(&adjoint.forward.field(name));
  std::vector<double> result(static_cast<std::size_t>(box[0].size() * box[1].size() * box[2].size()), 0.0);
  for (const auto& [factor, accumulator] : gradient.value.terms) {
    const std::vector<double> sums = back.values(accumulator, box);
    const std::vector<double> factors = sensitivity.values(factor, box);
    for (std::size_t k = 0; k < result.size(); ++k) result[k] += sums[k] == 0 ? 0 : factors[k] * sums[k];
  }
  std::size_t k = 0;
  ir::Extents i{};
  for (i[0] = box[0].lo; i[0] < box[0].hi; ++i[0]) {
    for (i[1] = box[1].lo; i[1] < box[1].hi; ++i[1]) {
      for (i[2] = box[2].lo; i[2] < box[2].hi; ++i[2], ++k)
        result[k] *= node_weight(domain, fields, gradient.stagger, adjoint.forward.first_order(), i);
    }
  }
  return result;
}

}  // namespace

std::vector<double> standalone_values(const passes::Compilation& compilation,
                                      const emit::StandaloneCase& example) {
  const Run run(compilation.kernels.program, example, DType::float64);
  const auto engine = loop::make_reference_engine(compilation, run.setup);
  return looks(*engine, run, example);
}

std::vector<double> standalone_run_values(const passes::Compilation& compilation,
                                          const emit::StandaloneCase& example, DType dtype) {
  const Run run(compilation.kernels.program, example, dtype);
  PropagatorOptions options;
  options.dtype = dtype;
  options.threads = 1;
  Machine machine(options);
  machine.ready();
  const auto device = machine.make_device();
  const auto engine = machine.make_engine(compilation, run.setup, device.get(),
                                          machine.compile(compilation, run.setup.domain, 0));
  return looks(*engine, run, example);
}

std::vector<emit::StandaloneModelGradient> standalone_gradient(const passes::AdjointCompilation& compilation,
                                                               const emit::StandaloneCase& example) {
  const ir::Adjoint& adjoint = compilation.adjoint;
  const Run run(compilation.forward.physical, example, DType::float64);
  const ir::Domain& domain = run.setup.domain;
  const loop::Sensitivity sensitivity(domain, run.setup.symbols, run.models);
  const auto keep = loop::make_reference_engine(compilation.forward, run.setup);
  const auto back = loop::make_reference_engine(compilation.backward, run.setup);
  keep->set_models(run.models);
  back->set_models(run.models);
  const auto history = keep->make_history(adjoint.saves, example.steps + 1);
  keep->stand(*history, 0);
  keep->set_points(run.sources, {});
  keep->keep(*history, 0);
  keep->steps(0, example.steps, 1, {}, {history.get(), loop::Kept::Way::keep, 0, example.steps});

  Shot shot;
  for (const emit::StandaloneProbe& probe : example.probes) shot.receivers.push_back({probe.field, {}});
  const ShotPoints points{run.sources, run.receivers, {}, {}};
  AdjointPoints collected(adjoint, domain, sensitivity, shot, points, 1);
  back->set_points(collected.residuals(residuals(example), example.steps), collected.taps());
  loop::Watch watch;
  watch.receivers = collected.taps().size();
  watch.samples = [&](std::int64_t j, std::span<const double> found) {
    collected.collect(example.steps - 1 - j, found);
  };
  back->steps(0, example.steps, 1, watch, {history.get(), loop::Kept::Way::backward, 0, example.steps});
  back->finish(watch);

  loop::ModelGradient models;
  std::size_t nodes = 1;
  for (const std::int64_t n : domain.shape) nodes *= static_cast<std::size_t>(n);
  for (const emit::StandaloneModel& model : example.models) models.arrays[model.name].assign(nodes, 0.0);
  for (const ir::CoefficientGradient& gradient : adjoint.gradients) {
    const ir::Box box = domain.live(adjoint.program.field(gradient.value.terms.front().second));
    sensitivity.transpose(gradient.coefficient, box,
                          cotangents(adjoint, gradient, domain, sensitivity, *back, box), models);
    if (!gradient.injected) continue;
    for (const auto& [index, sum] : collected.injected(gradient.of.front())) {
      const double value = sensitivity.value(gradient.coefficient, index);
      if (sum != 0 && value != 0) sensitivity.transpose(gradient.coefficient, index, -sum / value, models);
    }
  }
  collected.strengths(models);

  // Where nothing depends on a model all it has is rounding, of terms as large as those of the others.
  double largest = 0;
  for (const emit::StandaloneModel& model : example.models) {
    for (const double value : models.arrays.at(model.name))
      largest = std::max(largest, std::fabs(value) * model.base);
  }
  std::vector<emit::StandaloneModelGradient> result;
  for (const emit::StandaloneModel& model : example.models) {
    const std::vector<double>& values = models.arrays.at(model.name);
    emit::StandaloneModelGradient told{model.name, 0, {}, 0};
    for (std::size_t k = 0; k < values.size(); ++k) {
      told.peak = std::max(told.peak, std::fabs(values[k]));
      told.sum += values[k] * (static_cast<double>(k % 5) - 2.0);
    }
    if (told.peak < 1e-6 * largest / model.base) told.peak = largest / model.base;
    for (std::size_t j = 0; j < emit::standalone_gradient_nodes; ++j)
      told.values.push_back(values[emit::standalone_gradient_node(j, nodes)]);
    result.push_back(std::move(told));
  }
  return result;
}

}  // namespace ondula
