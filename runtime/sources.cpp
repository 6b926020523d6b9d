// Sources as taps.
// SPDX-License-Identifier: MIT
#include "runtime/sources.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "compiler/error.hpp"
#include "runtime/domain.hpp"
#include "runtime/loop/taps.hpp"
#include "runtime/substeps.hpp"

namespace ondula {
namespace {

void require_finite(const Source& source, const std::string& what) {
  for (const double value : source.components) {
    if (!std::isfinite(value)) throw UserError(fmt::format("{}: a component of {}", what, value));
  }
}

}  // namespace

SourceTaps::SourceTaps(const ir::Program& program, const ir::Domain& domain, const Grid& grid,
                       const Sampling& sampling, PointTaps& points)
    : program_(program), domain_(domain), grid_(grid), sampling_(sampling), points_(points) {
  first_order_ = program.first_order();
  for (const ir::Field& field : program.fields) staggered_time_ |= field.half_step;
  for (const double h : grid.spacing) volume_ *= h;
}

void SourceTaps::add(const Source& source, const std::string& what, std::vector<ir::PointSource>& into,
                     std::vector<PointSlopes>* slopes) {
  for (const double sample : source.wavelet) {
    if (!std::isfinite(sample)) throw UserError(what + ": its wavelet has a value that is not finite");
  }
  if (!std::isfinite(source.strength)) throw UserError(fmt::format("{}: strength {}", what, source.strength));
  if (source.kind == SourceKind::point) {
    if (!fed(source.field)) {
      throw UserError(
          fmt::format("{}: equation {} has no source on field {}", what, program_.equation, source.field));
    }
    component(source, program_.field(source.field), 1, what, into, slopes);
    return;
  }
  const bool force = source.kind == SourceKind::force;
  const std::vector<double> values = force ? direction(source, what) : tensor(source, what);
  bool found = false;
  for (const ir::Field& field : program_.fields) {
    const bool kind = field.kind == (force ? ir::FieldKind::vector : ir::FieldKind::tensor);
    if (!kind || field.strip_axis >= 0 || !fed(field.name)) continue;
    if (!source.field.empty() && field.group != source.field) continue;
    found = true;
    std::size_t entry = 0;
    for (const int axis : field.component)
      entry = entry * program_.axes.size() + static_cast<std::size_t>(axis);
    if (values[entry] != 0) component(source, field, values[entry], what, into, slopes);
  }
  if (!found) {
    throw UserError(fmt::format("{}: equation {} takes no {}{}{}", what, program_.equation,
                                force ? "force" : "moment rate", source.field.empty() ? "" : " on ",
                                source.field));
  }
}

bool SourceTaps::fed(const std::string& field) const {
  return std::any_of(program_.operations.begin(), program_.operations.end(), [&](const ir::Operation& o) {
    const auto* injection = std::get_if<ir::Injection>(&o);
    return injection != nullptr && injection->source == field;
  });
}

std::vector<double> SourceTaps::direction(const Source& source, const std::string& what) const {
  require_finite(source, what);
  if (source.components.size() == program_.axes.size()) return source.components;
  throw UserError(
      fmt::format("{}: a force needs a direction with one value for each of the axes {}; found {} values",
                  what, fmt::join(program_.axes, ", "), source.components.size()));
}

std::vector<double> SourceTaps::tensor(const Source& source, const std::string& what) const {
  require_finite(source, what);
  const std::size_t n = program_.axes.size();
  const std::vector<double>& m = source.components;
  if (m.size() != n * n) {
    throw UserError(
        fmt::format("{}: a moment rate needs a tensor of {} x {} values, found {}", what, n, n, m.size()));
  }
  for (std::size_t a = 0; a < n; ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      if (m[a * n + b] == m[b * n + a]) continue;
      throw UserError(fmt::format("{}: the moment tensor is not symmetric: {}{} = {}, {}{} = {}", what,
                                  program_.axes[a], program_.axes[b], m[a * n + b], program_.axes[b],
                                  program_.axes[a], m[b * n + a]));
    }
  }
  return m;
}

/// The transpose of the receiver that samples `field` there, times `share`. Besides `field` it may feed
/// others: a force across a free surface feeds the velocities along it.
void SourceTaps::component(const Source& source, const ir::Field& field, double share,
                           const std::string& what, std::vector<ir::PointSource>& into,
                           std::vector<PointSlopes>* slopes) {
  const std::vector<double> cells = cells_of(grid_, source.position, what);
  const bool raw = source.scaling == Scaling::raw;
  // A field at whole steps of a leapfrog changes between them, which is when a rate has its sample.
  const bool middle = staggered_time_ && !field.half_step && !raw;
  const double shift = middle ? 0.5 : 0.0;
  const auto samples = fine_wavelet(source.wavelet, sampling_.substeps, shift, sampling_.steps());
  if (raw) {
    auto taps = loop::interpolation_taps(domain_, field, first_order_, cells, source.interpolation);
    for (ir::Tap& tap : taps) tap.weight *= source.strength * share;
    into.push_back({field.name, std::move(taps), samples, true, 0});
    return;
  }
  points_.sample(field, cells, source.interpolation, source.strength * share / volume_);
  const std::size_t first = into.size();
  for (ir::FieldTaps& part : points_.take()) {
    weigh_inside(part);
    into.push_back({part.field, std::move(part.taps), samples, false, shift});
  }
  if (slopes == nullptr) return;
  for (RatioTaps& ratio : points_.take_slopes()) {
    // Slopes need a part with the samples, even where every weight happens to be 0.
    if (into.size() == first) into.push_back({field.name, {}, samples, false, shift});
    for (ir::FieldTaps& part : ratio.parts) weigh_inside(part);
    slopes->push_back({first, std::move(ratio)});
  }
}

void SourceTaps::weigh_inside(ir::FieldTaps& part) const {
  const ir::Field& field = program_.field(part.field);
  for (ir::Tap& tap : part.taps) tap.weight *= inside_share(field, tap);
}

/// A node on the row of a face about which the field is even owns half a cell: what is spread over it is
/// twice as dense. With the weights folded by parity this makes sources the transposes of receivers in the
/// scheme's own energy, and amplitudes right on the row.
double SourceTaps::inside_share(const ir::Field& field, const ir::Tap& tap) const {
  return 1 / node_weight(domain_, {&field}, field.stagger, first_order_, tap.index);
}

}  // namespace ondula
