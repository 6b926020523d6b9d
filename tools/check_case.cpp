// What `ondula check` tests an equation on.
// SPDX-License-Identifier: MIT
#include "tools/check_case.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/error.hpp"
#include "compiler/passes/pipeline.hpp"
#include "runtime/io/suggest.hpp"

namespace ondula::tools {
namespace {

constexpr std::int64_t steps = 80;
constexpr double share_of_limit = 0.8;

/// A value that a parameter of this unit may have in the earth, at the frequencies of grids of ten metres.
double usual(const std::string& unit) {
  static const std::map<std::string, double> values = {
      {"m/s", 2500}, {"kg/m^3", 2000}, {"Pa", 1.2e10}, {"1", 0.1},      {"", 0.1},
      {"1/s", 20},   {"s", 0.02},      {"F/m", 4e-11}, {"H/m", 1.3e-6}, {"S/m", 1e-4}};
  const auto found = values.find(unit);
  return found == values.end() ? 1 : found->second;
}

Grid make_grid(int dims) {
  static constexpr std::array<std::int64_t, 3> shape = {17, 15, 16};
  Grid grid;
  grid.axes = default_axes(dims);
  for (std::size_t a = 0; a < grid.axes.size(); ++a) {
    grid.shape.push_back(dims == 1 ? 41 : shape[a]);
    grid.spacing.push_back(10 + static_cast<double>(a));
    grid.origin.push_back(0);
    grid.faces.push_back({Face{FaceKind::absorbing, 6}, Face{FaceKind::absorbing, 5}});
  }
  grid.faces[0][0] = {FaceKind::free_surface, 0};
  return grid;
}

/// Why there is no gradient beside a rigid wall; empty where there is one, or none at all.
std::string no_wall(const CheckSettings& settings, const std::vector<std::string>& axes) {
  try {
    return passes::compile_adjoint(settings.definition, {axes, settings.order, false, false})
        .adjoint.no_mirror;
  } catch (const UserError&) {
    return "";  // the checks of derivatives will say it
  }
}

}  // namespace

CheckCase::CheckCase(const CheckSettings& settings, int dims)
    : settings_(settings), grid_(make_grid(dims)), facts_(ondula::facts(settings.definition, grid_.axes)) {
  const passes::Compilation compilation =
      passes::compile(settings.definition, {grid_.axes, settings.order, false, false});
  for (const ir::Field& field : compilation.physical.fields) {
    if (field.strip_axis < 0) fields_.push_back(field);
  }
  surface_refusal_ = compilation.physical.no_surface;
  if (!surface_refusal_.empty()) {
    wall_refusal_ = no_wall(settings, grid_.axes);
    grid_.faces[0][0] = wall_refusal_.empty() ? Face{FaceKind::rigid, 0} : Face{FaceKind::absorbing, 6};
  }
  choose_models(compilation.physical);
  PropagatorOptions first;
  first.dt = 1e-3;
  first.substeps = 1;
  first.order = settings.order;
  first.backend = settings.backend;
  first.compiler = settings.compiler;
  first.compile_later = true;
  Propagator probe(settings.definition, grid_, first);
  for (const auto& [name, values] : models_) probe.set_model(name, values);
  const Estimate estimate = probe.estimate({});
  limit_ = estimate.cfl_limit;
  fastest_ = estimate.fastest;
  choose_shots();
}

void CheckCase::choose_models(const ir::Program& program) {
  // Of several parameters of one unit those that may vanish are the smaller ones: a shear wave's speed, say.
  std::map<std::string, int> seen;
  for (const bool vanishing : {false, true}) {
    for (const ir::Parameter& parameter : program.parameters) {
      if ((parameter.sign == ir::Sign::nonnegative) != vanishing) continue;
      double value = usual(parameter.unit);
      for (int k = 0; k < seen[parameter.unit]; ++k) value /= 2;
      ++seen[parameter.unit];
      typical_[parameter.name] = value;
    }
  }
  for (const auto& [name, value] : settings_.models) {
    if (!typical_.contains(name)) {
      throw UserError(fmt::format("--model: the equation {} has no parameter \"{}\".{}",
                                  settings_.definition.name(), name,
                                  io::suggestion(name, facts_.parameters)));
    }
    typical_[name] = value;
  }
  unsigned seed = 11;
  for (const auto& [name, value] : typical_) {
    models_[name] = noise(program.find_parameter(name)->uniform ? 1 : nodes(), seed++);
    for (double& v : models_[name]) v = value * (1 + 0.1 * v);
  }
}

std::vector<double> CheckCase::place(std::mt19937& generator, bool shallow) const {
  std::uniform_real_distribution<double> uniform(0, 1);
  std::vector<double> position;
  for (std::size_t a = 0; a < grid_.axes.size(); ++a)
    position.push_back(static_cast<double>(grid_.shape[a] - 1) * grid_.spacing[a] * uniform(generator));
  if (shallow) position[0] = 1.3 * grid_.spacing[0];
  return position;
}

Source CheckCase::make_source(std::mt19937& generator, SourceKind kind, const std::string& name,
                              bool shallow) const {
  std::uniform_real_distribution<double> uniform(-1, 1);
  const std::size_t dims = grid_.axes.size();
  Source source;
  source.kind = kind;
  source.field = name;
  source.position = place(generator, shallow);
  for (std::int64_t k = 0; k < steps; ++k) source.wavelet.push_back(uniform(generator));
  if (kind == SourceKind::force) {
    for (std::size_t a = 0; a < dims; ++a) source.components.push_back(uniform(generator));
  }
  if (kind == SourceKind::moment_rate) {
    source.components.resize(dims * dims);
    for (std::size_t a = 0; a < dims; ++a) {
      for (std::size_t b = 0; b <= a; ++b)
        source.components[a * dims + b] = source.components[b * dims + a] = uniform(generator);
    }
  }
  return source;
}

void CheckCase::choose_shots() {
  std::mt19937 generator(5);
  std::vector<Receiver> receivers;
  std::vector<std::string> recorded = facts_.fields;
  recorded.insert(recorded.end(), facts_.derived.begin(), facts_.derived.end());
  for (const std::string& field : recorded) {
    for (const bool shallow : {true, false}) {
      // Near the surface many taps of a strain are folded: two nodes an axis show as much in less time.
      receivers.push_back({.field = field,
                           .position = place(generator, shallow),
                           .interpolation = shallow ? Interpolation::linear : Interpolation::sinc});
      if (field == "fibre") receivers.back().direction.assign(grid_.axes.size(), 1.0);
    }
  }
  std::map<std::string, std::vector<std::string>> groups;  // the components of a vector share a shot
  for (const ir::Field& field : fields_) {
    const auto& fed = facts_.sources;
    if (std::find(fed.begin(), fed.end(), field.name) != fed.end()) groups[field.group].push_back(field.name);
  }
  const auto add = [&](SourceKind kind, const std::vector<std::string>& names) {
    Shot shot;
    for (std::size_t k = 0; k < std::max<std::size_t>(2, names.size()); ++k)
      shot.sources.push_back(make_source(generator, kind, names[k % names.size()], k % 2 == 0));
    shot.receivers = receivers;
    shots_.push_back(std::move(shot));
  };
  for (const auto& [group, names] : groups) add(SourceKind::point, names);
  for (const std::string& group : facts_.forces) add(SourceKind::force, {group});
  for (const std::string& group : facts_.moments) add(SourceKind::moment_rate, {group});
}

PropagatorOptions CheckCase::options(DType dtype) const {
  PropagatorOptions options;
  options.dt = share_of_limit * limit_;
  options.steps = steps;
  options.substeps = 1;
  options.order = settings_.order;
  options.dtype = dtype;
  options.backend = settings_.backend;
  options.compiler = settings_.compiler;
  options.compile_later = true;
  options.absorb.velocity = fastest_;
  options.absorb.frequency = 1 / (20 * options.dt);
  return options;
}

Propagator CheckCase::propagator(DType dtype, const Models& models) const {
  return propagator(options(dtype), grid_, models);
}

Propagator CheckCase::propagator(const PropagatorOptions& options, const Grid& grid,
                                 const Models& models) const {
  Propagator made(settings_.definition, grid, options);
  for (const auto& [name, values] : models) made.set_model(name, values);
  return made;
}

std::size_t CheckCase::nodes() const {
  std::size_t count = 1;
  for (const std::int64_t n : grid_.shape) count *= static_cast<std::size_t>(n);
  return count;
}

std::vector<double> CheckCase::noise(std::size_t count, unsigned seed) const {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<double> values(count);
  for (double& value : values) value = uniform(generator);
  return values;
}

}  // namespace ondula::tools
