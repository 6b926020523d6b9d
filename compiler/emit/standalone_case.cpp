// Choosing the example's grid, models, sources and probes.
// SPDX-License-Identifier: MIT
#include "compiler/emit/standalone_case.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "compiler/error.hpp"

namespace ondula::emit {
namespace {

void choose_domain(const ir::Program& program, ir::Domain& domain) {
  const int d = program.dims();
  domain.dims = d;
  for (int a = 0; a < d; ++a) {
    const auto axis = static_cast<std::size_t>(a);
    domain.shape[axis] = program.order / 2 + 10 + a;
    domain.spacing[axis] = 10 + a;
    domain.faces[axis] = {FaceKind::absorbing, FaceKind::absorbing};
    domain.pad[axis] = {5 + a, 6 + a};
  }
  // Long enough for the host's layers of the innermost axis, grown to whole vectors.
  if (d > 1) domain.shape[static_cast<std::size_t>(d - 1)] = 40;
  const auto replace = [&](int axis, std::size_t side, FaceKind kind) {
    domain.faces[static_cast<std::size_t>(axis)][side] = kind;
    domain.pad[static_cast<std::size_t>(axis)][side] = 0;
  };
  if (program.no_surface.empty()) replace(0, 0, FaceKind::free_surface);
  if (d == 2) replace(1, 1, FaceKind::rigid);
  if (d == 3) replace(1, 0, FaceKind::periodic);
  if (d == 3) replace(1, 1, FaceKind::periodic);
}

/// Values as rocks have them, by name or else by unit; of several parameters of one unit each has half of the
/// one before.
void choose_models(const ir::Program& program, StandaloneCase& c) {
  static const std::map<std::string, std::pair<double, double>> by_name = {
      {"vp", {2000, 50}}, {"vs", {1000, 20}}, {"rho", {2000, 30}}};
  static const std::map<std::string, double> by_unit = {
      {"m/s", 2048}, {"kg/m^3", 2048}, {"Pa", 0x1p33}, {"1", 0.125}, {"", 0.125}};
  std::map<std::string, int> seen;
  for (const ir::Parameter& parameter : program.parameters) {
    const auto named = by_name.find(parameter.name);
    if (named != by_name.end()) {
      c.models.push_back({parameter.name, named->second.first, named->second.second});
      continue;
    }
    const auto unit = by_unit.find(parameter.unit);
    const double base = std::ldexp(unit == by_unit.end() ? 1.0 : unit->second, -seen[parameter.unit]++);
    c.models.push_back({parameter.name, base, base / 64});
  }
}

/// One source of each of the author's fields that has any: of the first component.
void choose_sources(const ir::Program& program, const ir::Extents& node, StandaloneCase& c) {
  std::set<std::string> seen;
  for (std::size_t o = 0; o < program.operations.size(); ++o) {
    const auto* injection = std::get_if<ir::Injection>(&program.operations[o]);
    if (injection == nullptr) continue;
    if (injection->source != injection->field) {
      throw UserError(fmt::format(
          "generate: the source of {} feeds {} too; standalone sources know sources that feed their "
          "own field alone",
          injection->source, injection->field));
    }
    const ir::Field& field = program.field(injection->field);
    if (!seen.insert(field.group).second) continue;
    // A force moves as much as a moment does over a few hundred metres.
    const double strength = field.kind == ir::FieldKind::tensor ? 300 : 1;
    c.sources.push_back({static_cast<int>(o), node, strength, injection->source});
  }
  if (c.sources.empty())
    throw UserError("generate: the equation has no source term, so that no example can be made");
}

}  // namespace

double standalone_pulse(std::int64_t n) {
  if (n >= standalone_samples) return 0;
  return static_cast<double>(n * (standalone_samples - n) * (standalone_samples / 2 - n)) / 512.0;
}

double standalone_residual(std::size_t i, double peak) {
  const int pattern = static_cast<int>(i * 7 % 11) - 5;
  return peak > 0 ? std::ldexp(pattern, -std::ilogb(peak)) : 0.0;
}

std::size_t standalone_gradient_node(std::size_t j, std::size_t nodes) {
  return (2 * j + 1) * nodes / (2 * standalone_gradient_nodes);
}

std::vector<double> standalone_peaks(const StandaloneCase& c) {
  std::vector<double> peaks(c.probes.size(), 0.0);
  for (std::size_t i = 0; i < c.values.size(); ++i) {
    const std::size_t first = i % c.probes.size() / standalone_probes * standalone_probes;
    for (std::size_t k = 0; k < standalone_probes; ++k)
      peaks[first + k] = std::max(peaks[first + k], std::fabs(c.values[i]));
  }
  return peaks;
}

StandaloneCase standalone_case(const ir::Program& program) {
  StandaloneCase c;
  choose_domain(program, c.domain);
  c.layer.dt = 0.0015;
  c.layer.velocity = 2300;
  c.layer.frequency = 20;
  c.steps = 160;
  c.every = 16;
  choose_models(program, c);
  ir::Extents source{}, near{};
  for (int a = 0; a < program.dims(); ++a) {
    const auto axis = static_cast<std::size_t>(a);
    // Off the diagonals, so that no symmetry hides an exchange of axes.
    const std::int64_t inside = a > 0 && a + 1 == program.dims() ? 8 : c.domain.shape[axis] / 2 - a;
    source[axis] = c.domain.pad[axis][0] + inside;
    near[axis] = source[axis] + 2 + a;
  }
  choose_sources(program, source, c);
  // Within what bounds the first axis below, and the last one; or under the surface.
  ir::Extents below = near, beside = near;
  below[0] = c.domain.total(0) - 4;
  const auto last = static_cast<std::size_t>(program.dims() - 1);
  beside[last] = program.dims() == 1 ? 2 : c.domain.total(program.dims() - 1) - 3;
  for (const ir::Field& field : program.fields) {
    if (field.strip_axis >= 0) continue;
    for (const ir::Extents& node : {near, below, beside}) c.probes.push_back({field.name, node});
  }
  return c;
}

}  // namespace ondula::emit
