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
  setup.layer.velocity = c.layer_velocity;
  setup.layer.frequency = c.layer_frequency;
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

/// The state and the sources a case starts with.
void start(Running& running, const EngineCase& c) {
  std::vector<ir::PointSource> sources;
  for (const auto& [field, strength] : c.sources) sources.push_back(pulse(c, field, strength));
  running.engine->set_points(std::move(sources), {});
  unsigned seed = 100;
  for (const ir::Field& field : running.compilation.physical.fields) {
    if (!c.noise || field.strip_axis >= 0 || field.kind == ir::FieldKind::tensor) continue;
    const std::vector<double> values = padded_noise(c.domain, -1, 1, ++seed);
    running.engine->set_field(field.name, 0, values);
    if (field.time_order == 2) running.engine->set_field(field.name, -1, values);
  }
}

Fields run(Running running, const EngineCase& c) {
  start(running, c);
  running.steps(c.steps);
  return running.fields();
}

/// `running` with its engine made by `make`, and the models of `c` in it.
template <class Make>
Running with_engine(Running running, const EngineCase& c, const Make& make) {
  running.models = std::make_unique<loop::Models>();
  for (const auto& [name, values] : c.models) {
    (*running.models)[name] = values.size() == 1 ? loop::ModelArray(values[0]) : loop::ModelArray(values);
  }
  running.engine = make(running.compilation, setup_of(c, running.compilation.physical.axes));
  running.engine->set_models(*running.models);
  return running;
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

std::vector<double> padded_noise(const ir::Domain& domain, double low, double high, unsigned seed) {
  ir::Domain all = domain;
  for (int a = 0; a < ir::max_axes; ++a) all.shape[static_cast<std::size_t>(a)] = domain.total(a);
  return scattered(all, low, high, seed);
}

EngineCase with_faces(EngineCase c, const std::array<FaceKind, 2>& faces) {
  for (std::size_t a = 0; a < static_cast<std::size_t>(c.domain.dims); ++a) {
    c.domain.faces[a] = faces;
    for (std::size_t side = 0; side < 2; ++side) {
      if (faces[side] != FaceKind::absorbing) c.domain.pad[a][side] = 0;
    }
  }
  return c;
}

EngineCase acoustic_case(const ir::Domain& domain, int order) {
  EngineCase c;
  c.domain = domain;
  c.order = order;
  c.models["vp"] = scattered(domain, 1500, 3000, 1);
  c.sources["u"] = 1;
  return c;
}

EngineCase density_case(const ir::Domain& domain, int order) {
  EngineCase c = acoustic_case(domain, order);
  c.models["rho"] = scattered(domain, 1000, 2500, 2);
  return c;
}

EngineCase elastic_case(const ir::Domain& domain, int order) {
  EngineCase c = density_case(domain, order);
  c.models["vp"] = scattered(domain, 2500, 3000, 1);
  c.models["vs"] = scattered(domain, -500, 1500, 2);
  for (double& vs : c.models["vs"]) vs = std::max(vs, 0.0);
  c.models["rho"] = scattered(domain, 1000, 2500, 3);
  c.sources = {{"v.z", 1e-6}, {"s.zz", 1}};
  return c;
}

passes::Compilation compiled(const EquationDefinition& equation, const EngineCase& c) {
  return passes::compile(
      equation, {default_axes(c.domain.dims), c.order, c.stretched, false, passes::Target::host, c.fusion});
}

Running on_reference(const EquationDefinition& equation, const EngineCase& c) {
  Running running;
  running.compilation = compiled(equation, c);
  return with_engine(std::move(running), c, [](const auto& compilation, const loop::EngineSetup& setup) {
    return loop::make_reference_engine(compilation, setup);
  });
}

namespace {

/// Kernels of `text` on `threads` threads.
Running on_text(passes::Compilation compilation, const EngineCase& c, const std::string& text,
                const std::vector<std::string>& options, const std::string& manifest, int threads) {
  Running running;
  running.compilation = std::move(compilation);
  jit::HostCompiler compiler;
  const auto module = compiler.compile({text, running.compilation.physical.equation, options, manifest});
  running.device = c.device ? c.device(threads) : device::make_host_device(threads, true);
  device::Device& device = *running.device;
  return with_engine(std::move(running), c, [&](const auto& made, const loop::EngineSetup& setup) {
    return loop::make_compiled_engine(made, setup, device, module);
  });
}

}  // namespace

Running on_host(const EquationDefinition& equation, const EngineCase& c, int threads) {
  const passes::Compilation compilation = compiled(equation, c);
  const emit::Real real = c.dtype == DType::float32 ? emit::Real::float32 : emit::Real::float64;
  return on_text(compilation, c, emit::host_text(compilation.kernels, real), {},
                 emit::manifest(compilation.kernels, real), threads);
}

Fields Running::fields() const {
  Fields result;
  for (const ir::Field& field : compilation.physical.fields) {
    if (field.strip_axis < 0) result[field.name] = engine->field(field.name, 0);
  }
  return result;
}

void Running::set_fields(const Fields& fields) {
  for (const auto& [name, values] : fields) engine->set_field(name, 0, values);
}

void Running::steps(std::int64_t count) {
  for (std::int64_t n = 0; n < count; ++n) engine->step(done++, {});
}

Fields reference_fields(const EquationDefinition& equation, const EngineCase& c) {
  return run(on_reference(equation, c), c);
}

Fields host_fields(const EquationDefinition& equation, const EngineCase& c, int threads) {
  return run(on_host(equation, c, threads), c);
}

Fields text_fields(const passes::Compilation& compilation, const EngineCase& c, const std::string& text,
                   const std::vector<std::string>& options, int threads) {
  return run(on_text(compilation, c, text, options, "", threads), c);
}

double host_error(const EquationDefinition& equation, const EngineCase& c) {
  constexpr int looks = 4;
  Running reference = on_reference(equation, c), host = on_host(equation, c, 2);
  start(reference, c);
  start(host, c);
  std::map<std::string, double> size, difference;
  for (int look = 0; look < looks; ++look) {
    const std::int64_t until = c.steps * (look + 1) / looks;
    reference.steps(until - reference.done);
    host.steps(until - host.done);
    const Fields found = host.fields();
    for (const auto& [name, values] : reference.fields()) {
      size[name] = detail::worse(size[name], max_abs(values));
      difference[name] = detail::worse(difference[name], max_abs_diff(found.at(name), values));
    }
  }
  double worst = 0;
  for (const auto& [name, largest] : size) {
    const double error = largest > 0 ? difference[name] / largest : difference[name];
    if (!std::isfinite(error) || !std::isfinite(largest)) return std::numeric_limits<double>::quiet_NaN();
    worst = std::max(worst, error);
  }
  return worst;
}

std::vector<std::vector<double>> nameless_fields(const EquationDefinition& equation) {
  const ir::Equation stated = equation.instantiate({"z", "x"});
  EngineCase c;
  c.domain = layered({24, 70}, 5);
  c.order = 4;
  c.dtype = DType::float32;
  c.steps = 30;
  c.models[stated.parameters.at(0).name] = scattered(c.domain, 1500, 3000, 1);
  c.models[stated.parameters.at(1).name] = {50};
  c.sources[stated.sources.at(0)] = 1;
  const auto fields = host_fields(equation, c);
  std::vector<std::vector<double>> result;
  for (const ir::Field& field : stated.fields) result.push_back(fields.at(field.name));
  return result;
}

}  // namespace ondula::test
