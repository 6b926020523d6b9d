// Runs the example of standalone sources on the reference.
// SPDX-License-Identifier: MIT
#include "runtime/standalone_values.hpp"

#include "runtime/loop/engine.hpp"

namespace ondula {

std::vector<double> standalone_values(const passes::Compilation& compilation,
                                      const emit::StandaloneCase& example) {
  loop::EngineSetup setup;
  setup.domain = example.domain;
  setup.layer = example.layer;
  setup.dtype = DType::float64;
  setup.symbols["dt"] = example.layer.dt;
  const ir::Program& program = compilation.kernels.program;
  double volume = 1;
  std::int64_t count = 1;
  for (int a = 0; a < program.dims(); ++a) {
    const auto axis = static_cast<std::size_t>(a);
    setup.symbols["h_" + program.axes[axis]] = example.domain.spacing[axis];
    volume *= example.domain.spacing[axis];
    count *= example.domain.shape[axis];
  }
  const auto engine = loop::make_reference_engine(compilation, setup);
  loop::Models models;
  for (const emit::StandaloneModel& model : example.models) {
    std::vector<double> values;
    for (std::int64_t k = 0; k < count; ++k)
      values.push_back(model.base + model.step * static_cast<double>(k % 7));
    models[model.name] = loop::ModelArray(values);
  }
  engine->set_models(models);
  std::vector<ir::PointSource> sources;
  for (const emit::StandaloneSource& source : example.sources) {
    const auto& operation = program.operations[static_cast<std::size_t>(source.injection)];
    ir::PointSource point;
    point.source = std::get<ir::Injection>(operation).source;
    point.taps = {{source.node, source.strength / volume}};
    for (std::int64_t n = 0; n < example.steps; ++n) point.samples.push_back(emit::standalone_pulse(n));
    sources.push_back(std::move(point));
  }
  std::vector<ir::PointReceiver> receivers;
  for (const emit::StandaloneProbe& probe : example.probes)
    receivers.emplace_back(probe.field, std::vector<ir::Tap>{{probe.node, 1.0}});
  std::vector<double> samples(receivers.size());
  engine->set_points(std::move(sources), std::move(receivers));
  std::vector<double> found;
  for (std::int64_t n = 0; n < example.steps; ++n) {
    engine->step(n, samples);
    if (n % example.every == 0) found.insert(found.end(), samples.begin(), samples.end());
  }
  return found;
}

}  // namespace ondula
