// Plane waves in periodic boxes.
// SPDX-License-Identifier: MIT
#include "tests/equations/users/users.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace ondula::test {

constexpr Complex i{0, 1};

EquationDefinition user_equation(const std::string& name) {
  return load_equation("docs/examples/equations/" + name + ".cpp");
}

double wavenumber(const Box& box) {
  return 2 * std::numbers::pi / (static_cast<double>(box.nodes) * box.spacing);
}

namespace {

Grid grid_of(const Box& box) {
  Grid grid;
  grid.axes = default_axes(box.dims);
  for (int a = 0; a < box.dims; ++a) {
    grid.shape.push_back(a == 0 ? box.nodes : box.order + 1);
    grid.spacing.push_back(box.spacing);
    grid.origin.push_back(0);
    grid.faces.push_back({Face{FaceKind::periodic, 0}, Face{FaceKind::periodic, 0}});
  }
  return grid;
}

Propagator propagator_of(const Box& box, double dt, std::int64_t steps) {
  PropagatorOptions options;
  options.dt = dt;
  options.steps = steps;
  options.substeps = 1;
  options.order = box.order;
  options.dtype = DType::float64;
  options.backend = box.backend;
  Propagator made(box.equation, grid_of(box), options);
  for (const auto& [name, value] : box.models) made.set_model(name, value);
  return made;
}

}  // namespace

Complex measured(const Box& box, const Mode& mode, double share, std::int64_t steps, double* distance) {
  const Grid grid = grid_of(box);
  const double k = wavenumber(box);
  const double limit = propagator_of(box, 1e-12, 1).estimate({}).cfl_limit;
  const double dt = share * limit;
  Propagator run = propagator_of(box, dt, steps);
  const auto wave = [&](const std::string& field, double half, double time) {
    std::vector<double> values;
    std::int64_t others = 1;
    for (std::size_t a = 1; a < grid.shape.size(); ++a) others *= grid.shape[a];
    for (std::int64_t n = 0; n < grid.shape[0]; ++n) {
      const double z = (static_cast<double>(n) + half) * box.spacing;
      const Complex value = mode.amplitudes.at(field) * std::exp(i * (k * z + mode.omega * time));
      values.insert(values.end(), static_cast<std::size_t>(others), value.real());
    }
    return values;
  };
  for (const std::string& name : facts(box.equation, grid.axes).initial) {
    const bool previous = name.ends_with(".previous");
    const std::string field = previous ? name.substr(0, name.size() - 9) : name;
    if (!mode.amplitudes.contains(field)) continue;
    const bool half = std::find(box.half.begin(), box.half.end(), field) != box.half.end();
    run.set_initial(name, wave(field, half ? 0.5 : 0, previous ? -dt : run.time_offset(field)));
  }
  // A quarter of a wavelength apart: real and imaginary parts.
  Shot shot;
  for (const double part : {0.0, -0.25}) {
    Receiver receiver{.field = box.recorded, .position = {}};
    receiver.position.push_back((part < 0 ? 0.75 : 0.0) * static_cast<double>(box.nodes) * box.spacing);
    for (int a = 1; a < box.dims; ++a) receiver.position.push_back(2 * box.spacing);
    shot.receivers.push_back(receiver);
  }
  const std::vector<Shot> shots{shot};
  const Traces traces = run.forward(shots).front().at(box.recorded);
  const Complex amplitude = mode.amplitudes.at(box.recorded);
  Complex turned = 0, last;
  double worst = 0;
  for (std::int64_t n = 0; n < steps; ++n) {
    const auto at = static_cast<std::size_t>(n);
    const Complex z{traces.data[at], traces.data[static_cast<std::size_t>(steps) + at]};
    const double time = run.time_offset(box.recorded) + static_cast<double>(n) * dt;
    worst = std::max(worst, std::abs(z - amplitude * std::exp(i * mode.omega * time)) / std::abs(amplitude));
    if (n > 0) turned += std::log(z / last);  // no step turns by half a circle
    last = z;
  }
  if (distance != nullptr) *distance = worst;
  return turned / (i * static_cast<double>(steps - 1) * dt);
}

Problem user_problem(const std::string& name, int dims, std::int64_t steps) {
  std::map<std::string, double> usual = {
      {"vp", 2500},       {"vs", 1200},   {"rho", 2000},   {"eta", 30},     {"tau1", 0.2},
      {"tau2", 0.1},      {"t1", 0.03},   {"t2", 0.004},   {"tau_p", 0.2},  {"tau_s", 0.1},
      {"epsilon", 4e-11}, {"mu", 1.3e-6}, {"sigma", 1e-4}, {"t", 0.01},     {"delta", 0.05},
      {"gamma", 0.1},     {"c11", 3e10},  {"c22", 3.2e10}, {"c33", 2.5e10}, {"c44", 6e9},
      {"c55", 7e9},       {"c66", 8e9},   {"c12", 9e9},    {"c13", 8e9},    {"c23", 7e9}};
  if (name.find("vti") != std::string::npos) usual.insert_or_assign("epsilon", 0.2);
  Setting setting;
  setting.dims = dims;
  setting.steps = steps;
  Problem p = random_medium(setting);  // for its grid
  p.equation = user_equation(name);
  p.models.clear();
  const bool surface = name == "damped_wave" || name == "viscoacoustic";
  // Stresses of anisotropic media have no adjoint beside walls.
  const Face wall = name.starts_with("elastic_") ? Face{FaceKind::absorbing, 5} : Face{FaceKind::rigid, 0};
  p.grid.faces[0][0] = surface ? Face{FaceKind::free_surface, 0} : wall;
  p.grid.faces.back()[1] = wall;
  Random random(31);
  const EquationFacts names = facts(p.equation, p.grid.axes);
  for (const std::string& parameter : names.parameters) {
    for (const double value : noise(random, p.nodes(), 0.15))
      p.models[parameter].push_back(usual.at(parameter) * (1 + value));
  }
  p.options.dt = 1e-15;
  p.options.substeps = 1;
  p.options.dt = 0.8 * p.propagator().estimate({}).cfl_limit;
  const auto place = [&] {
    std::vector<double> position;
    for (std::size_t a = 0; a < p.grid.shape.size(); ++a) {
      position.push_back(p.grid.origin[a] +
                         p.grid.spacing[a] * static_cast<double>(p.grid.shape[a] - 1) * random.uniform());
    }
    return position;
  };
  Shot shot;
  for (const std::string& field : names.sources) {
    const std::vector<double> wavelet = noise(random, static_cast<std::size_t>(steps));
    shot.sources.push_back({.field = field, .position = place(), .wavelet = wavelet});
  }
  for (const std::string& field : names.fields)
    shot.receivers.push_back({.field = field, .position = place()});
  p.shots = {shot};
  return p;
}

Complex root(const std::function<Complex(Complex)>& f, Complex near) {
  Complex x = near;
  for (int k = 0; k < 60; ++k) {
    const Complex h = 1e-6 * x;
    const Complex step = f(x) / ((f(x + h) - f(x - h)) / (2.0 * h));
    x -= step;
    if (std::abs(step) < 1e-14 * std::abs(x)) break;
  }
  return x;
}

Complex modulus(Complex omega, const std::vector<double>& tau, const std::vector<double>& t) {
  Complex sum = 1;
  for (std::size_t l = 0; l < tau.size(); ++l) sum += tau[l] * i * omega * t[l] / (1.0 + i * omega * t[l]);
  return sum;
}

}  // namespace ondula::test
