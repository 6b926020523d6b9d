// Running an equation on the reference and on compiled kernels.
// SPDX-License-Identifier: MIT
#include "tests/equations/engines.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "runtime/device/device.hpp"
#include "runtime/jit/host_compiler.hpp"
#include "tests/support/compare.hpp"

namespace ondula::test {
namespace {

using Fields = std::map<std::string, std::vector<double>>;

loop::EngineSetup setup_of(const EngineCase& c, const std::vector<std::string>& axes) {
  loop::EngineSetup setup;
  setup.domain = c.domain;
  setup.symbols["dt"] = c.dt;
  for (std::size_t a = 0; a < axes.size(); ++a) setup.symbols["h_" + axes[a]] = c.domain.spacing[a];
  setup.layer.dt = c.dt;
  setup.layer.velocity = 3000;
  setup.layer.frequency = 20;
  setup.layer.kappa = c.stretched ? 2 : 1;
  setup.dtype = c.dtype;
  return setup;
}

/// One tap in the middle of the model, off both diagonals so that no symmetry hides an exchange of axes.
ir::PointSource pulse(const EngineCase& c, const std::string& field, double strength) {
  ir::Tap tap;
  for (std::size_t a = 0; a < static_cast<std::size_t>(c.domain.dims); ++a)
    tap.index[a] = c.domain.pad[a][0] + c.domain.shape[a] / 2 - static_cast<std::int64_t>(a);
  tap.weight = strength;
  ir::PointSource source{field, {tap}, {}, true};
  for (int n = 0; n < 16; ++n) source.samples.push_back(std::sin(0.4 * n) * (16 - n) / 16);
  return source;
}

Fields run(loop::Engine& engine, const passes::Compilation& compilation, const EngineCase& c) {
  loop::Models models;
  for (const auto& [name, values] : c.models) {
    models[name] = values.size() == 1 ? loop::ModelArray(values[0]) : loop::ModelArray(values);
  }
  engine.set_models(models);
  std::vector<ir::PointSource> sources;
  for (const auto& [field, strength] : c.sources) sources.push_back(pulse(c, field, strength));
  engine.set_points(std::move(sources), {});
  for (int n = 0; n < c.steps; ++n) engine.step(n, {});
  Fields fields;
  for (const ir::Field& field : compilation.physical.fields) {
    if (field.strip_axis < 0) fields[field.name] = engine.field(field.name, 0);
  }
  return fields;
}

}  // namespace

ir::Domain layered(const std::vector<std::int64_t>& shape, std::int64_t width) {
  ir::Domain domain;
  domain.dims = static_cast<int>(shape.size());
  for (std::size_t a = 0; a < shape.size(); ++a) {
    domain.shape[a] = shape[a];
    domain.spacing[a] = 10;
    domain.pad[a] = {width, width};
    const FaceKind face = width > 0 ? FaceKind::absorbing : FaceKind::rigid;
    domain.faces[a] = {face, face};
  }
  return domain;
}

std::vector<double> scattered(const ir::Domain& domain, double low, double high, unsigned seed) {
  std::vector<double> values(static_cast<std::size_t>(domain.shape[0] * domain.shape[1] * domain.shape[2]));
  unsigned state = seed;
  for (double& value : values) {
    state = state * 1664525u + 1013904223u;
    value = low + (high - low) * static_cast<double>(state >> 8) * 0x1p-24;
  }
  return values;
}

passes::Compilation compiled(const EquationDefinition& equation, const EngineCase& c) {
  return passes::compile(equation, {default_axes(c.domain.dims), c.order, c.stretched, false});
}

Fields reference_fields(const EquationDefinition& equation, const EngineCase& c) {
  const passes::Compilation compilation = compiled(equation, c);
  return run(*loop::make_reference_engine(compilation, setup_of(c, compilation.physical.axes)), compilation,
             c);
}

Fields host_fields(const EquationDefinition& equation, const EngineCase& c, int threads) {
  const passes::Compilation compilation = compiled(equation, c);
  const emit::Real real = c.dtype == DType::float32 ? emit::Real::float32 : emit::Real::float64;
  jit::HostCompiler compiler;
  const auto module = compiler.compile({emit::host_text(compilation.kernels, real),
                                        equation.name(),
                                        {},
                                        emit::manifest(compilation.kernels, real)});
  const auto device = device::make_host_device(threads, true);
  return run(
      *loop::make_compiled_engine(compilation, setup_of(c, compilation.physical.axes), *device, module),
      compilation, c);
}

Fields text_fields(const passes::Compilation& compilation, const EngineCase& c, const std::string& text,
                   const std::vector<std::string>& options, int threads) {
  jit::HostCompiler compiler;
  const auto module = compiler.compile({text, compilation.physical.equation, options, ""});
  const auto device = device::make_host_device(threads, true);
  return run(
      *loop::make_compiled_engine(compilation, setup_of(c, compilation.physical.axes), *device, module),
      compilation, c);
}

double host_error(const EquationDefinition& equation, const EngineCase& c) {
  const Fields expected = reference_fields(equation, c), found = host_fields(equation, c);
  double worst = 0;
  for (const auto& [name, values] : expected) {
    const double size = max_abs(values), difference = max_abs_diff(found.at(name), values);
    const double error = size > 0 ? difference / size : difference;
    if (!std::isfinite(error)) return std::numeric_limits<double>::quiet_NaN();
    worst = std::max(worst, error);
  }
  return worst;
}

}  // namespace ondula::test
