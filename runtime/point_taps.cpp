// Points between the grid's own, near its faces too, as sums over entries of the fields.
// SPDX-License-Identifier: MIT
#include "runtime/point_taps.hpp"

#include <algorithm>
#include <cmath>

#include "compiler/error.hpp"
#include "compiler/passes/stencil.hpp"
#include "runtime/loop/factor.hpp"
#include "runtime/loop/taps.hpp"

namespace ondula {
namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

/// Where two surfaces meet, each rule calls for the other; after so many the plain image serves.
constexpr int deepest = 3;

}  // namespace

const ir::Field* first_of(const std::vector<ir::Field>& fields, ir::FieldKind kind) {
  const auto found = std::find_if(fields.begin(), fields.end(), [&](const ir::Field& f) {
    return f.kind == kind && f.strip_axis < 0 && !f.component.empty();
  });
  return found == fields.end() ? nullptr : &*found;
}

PointTaps::PointTaps(const ir::Program& program, const ir::Domain& domain, const loop::Models& models)
    : program_(program), domain_(domain), model_(domain, models, 1) {
  for (const ir::Field& field : program.fields) first_order_ |= field.kind != ir::FieldKind::scalar;
  stresses_ = first_of(program.fields, ir::FieldKind::tensor) != nullptr;
  if (first_order_) scheme_ = scheme_of(program);
  for (const ir::Number& weight : passes::staggered(program.order)) weights_.push_back(weight.value());
  const std::int64_t reach = 8 + program.order;
  for (const ir::Field& field : program.fields) {
    if (field.strip_axis >= 0) continue;
    auto& of_axis = images_[field.name];
    of_axis.resize(at(domain.dims));
    for (int axis = 0; axis < domain.dims; ++axis) {
      for (const ir::Repeat& r : ir::field_images(domain, field, axis, first_order_, reach))
        of_axis[at(axis)][r.to] = r;
    }
  }
}

const ir::Field& PointTaps::component(ir::FieldKind kind, std::vector<int> axes) const {
  std::sort(axes.begin(), axes.end());
  const ir::Field* group = first_of(program_.fields, kind);
  for (const ir::Field& field : program_.fields) {
    std::vector<int> own = field.component;
    std::sort(own.begin(), own.end());
    if (group != nullptr && field.group == group->group && field.kind == kind && own == axes) return field;
  }
  throw InternalError("no such component");
}

void PointTaps::sample(const ir::Field& field, const std::vector<double>& cells, Interpolation interpolation,
                       double weight) {
  if (field.kind == ir::FieldKind::vector && sample_on_row(field, cells, interpolation, weight)) return;
  for (const ir::Tap& tap : loop::unfolded_taps(domain_, field.stagger, cells, interpolation))
    add(field, tap.index, weight * tap.weight, 0);
}

/// On the row of a free surface a normal velocity has no point of its own. False elsewhere.
bool PointTaps::sample_on_row(const ir::Field& field, const std::vector<double>& cells,
                              Interpolation interpolation, double weight) {
  const int n = field.component[0];
  for (int side = 0; side < 2; ++side) {
    const auto last = static_cast<double>(domain_.shape[at(n)] - 1);
    if (!free(n, side) || std::fabs(cells[at(n)] - (side == 0 ? 0 : last)) > 1e-9) continue;
    const std::int64_t row = side == 0 ? 0 : domain_.total(n) - 1;
    const double outward = side == 0 ? -1 : 1;
    ir::HalfCells half = field.stagger;
    half[at(n)] = 0;
    for (ir::Tap tap : loop::unfolded_taps(domain_, half, cells, interpolation)) {
      const double w = weight * tap.weight / 8;
      tap.index[at(n)] = row;
      add_normal_slope(n, tap.index, 3 * outward * domain_.spacing[at(n)] * w, 0);
      tap.index[at(n)] = side == 0 ? 0 : row - 1;
      add(field, tap.index, 9 * w, 0);
      tap.index[at(n)] += side == 0 ? 1 : -1;
      add(field, tap.index, -w, 0);
    }
    return true;
  }
  return false;
}

std::vector<ir::FieldTaps> PointTaps::take() {
  std::vector<ir::FieldTaps> parts;
  for (const auto& [key, weight] : sum_) {
    if (weight == 0) continue;
    if (parts.empty() || parts.back().field != key.first) parts.push_back({key.first, {}});
    parts.back().taps.push_back({key.second, weight});
  }
  for (ir::FieldTaps& part : parts) part.taps.shrink_to_fit();  // many receivers have many of them
  sum_.clear();
  return parts;
}

/// e_ab = (d_a v_b + d_b v_a)/2 lives on nodes where a = b, else half a cell along both.
void PointTaps::strain(int a, int b, const std::vector<double>& cells, Interpolation interpolation,
                       double weight) {
  ir::HalfCells half{};
  if (a != b) half[at(a)] = half[at(b)] = 1;
  for (const ir::Tap& tap : loop::unfolded_taps(domain_, half, cells, interpolation)) {
    const double w = weight * tap.weight * (a == b ? 1.0 : 0.5);
    derivative(component(ir::FieldKind::vector, {b}), a, tap.index, a != b, w);
    if (a != b) derivative(component(ir::FieldKind::vector, {a}), b, tap.index, true, w);
  }
}

/// The staggered derivative of `field` along `axis` at entry `index` of a grid that lies half a cell off the
/// field's own along that axis: `from_half` tells on which side.
void PointTaps::derivative(const ir::Field& field, int axis, const ir::Extents& index, bool from_half,
                           double weight) {
  for (std::size_t m = 1; m <= weights_.size(); ++m) {
    const auto step = static_cast<std::int64_t>(m);
    ir::Extents there = index;
    there[at(axis)] = index[at(axis)] + (from_half ? step : step - 1);
    add(field, there, weight * weights_[m - 1] / domain_.spacing[at(axis)], 0);
    there[at(axis)] = index[at(axis)] + (from_half ? 1 - step : -step);
    add(field, there, -weight * weights_[m - 1] / domain_.spacing[at(axis)], 0);
  }
}

bool PointTaps::free(int axis, int side) const {
  return first_order_ && stresses_ && domain_.faces[at(axis)][at(side)] == FaceKind::free_surface;
}

/// The side on which a normal velocity's entry lies beyond a free surface.
std::optional<int> PointTaps::surface_beyond(const ir::Field& field, const ir::Extents& index) const {
  if (field.kind != ir::FieldKind::vector) return std::nullopt;
  const int n = field.component[0];
  if (index[at(n)] < 0 && free(n, 0)) return 0;
  if (index[at(n)] > domain_.total(n) - 2 && free(n, 1)) return 1;
  return std::nullopt;
}

void PointTaps::add(const ir::Field& field, ir::Extents index, double weight, int depth) {
  const auto side = surface_beyond(field, index);
  if (side && depth < deepest) {
    const int n = field.component[0];
    const std::int64_t row = *side == 0 ? 0 : domain_.total(n) - 1;
    const std::int64_t mirrored = 2 * row - index[at(n)] - 1;
    // Beyond the surface by z: v(-z) = v(z) - 2 z dv/dn, the coordinate growing inwards at a minus face.
    const double distance = (static_cast<double>(index[at(n)] - row) + 0.5) * domain_.spacing[at(n)];
    ir::Extents on_row = index;
    on_row[at(n)] = row;
    add_normal_slope(n, on_row, 2 * distance * weight, depth + 1);
    index[at(n)] = mirrored;
    add(field, index, weight, depth);
    return;
  }
  for (int axis = 0; axis < domain_.dims; ++axis) {
    const auto& images = images_.at(field.name)[at(axis)];
    const auto image = images.find(index[at(axis)]);
    if (image != images.end()) {
      index[at(axis)] = image->second.from;
      weight *= image->second.sign;
    }
    const ir::Range live = domain_.live(field, axis);
    if (index[at(axis)] < live.lo || index[at(axis)] >= live.hi) return;
  }
  sum_[{field.name, index}] += weight;
}

/// dv_n/dn on a row of a free surface, at a node: -sum_t C_nt/C_nn dv_t/dt, from s_nn = 0 there.
void PointTaps::add_normal_slope(int normal, const ir::Extents& row, double weight, int depth) {
  for (int t = 0; t < domain_.dims; ++t) {
    if (t == normal) continue;
    const ir::Field& along = component(ir::FieldKind::vector, {t});
    // The node may itself lie beyond another face; its coefficients are the padded model's.
    const double share = -ratio(normal, t, row) * weight / domain_.spacing[at(t)];
    if (share == 0) continue;
    for (std::size_t m = 1; m <= weights_.size(); ++m) {
      ir::Extents there = row;
      there[at(t)] = row[at(t)] + static_cast<std::int64_t>(m) - 1;
      add(along, there, share * weights_[m - 1], depth + 1);
      there[at(t)] = row[at(t)] - static_cast<std::int64_t>(m);
      add(along, there, -share * weights_[m - 1], depth + 1);
    }
  }
}

/// C_nt/C_nn at a node: what the normal stress there gains of dv_t/dt and of dv_n/dn.
double PointTaps::ratio(int normal, int tangential, const ir::Extents& node) const {
  const std::string& stress = component(ir::FieldKind::tensor, {normal, normal}).name;
  ir::Extents inside = node;
  for (int a = 0; a < domain_.dims; ++a)
    inside[at(a)] = std::clamp<std::int64_t>(inside[at(a)], 0, domain_.total(a) - 1);
  double of_normal = 0, of_tangential = 0;
  for (const auto& stage : scheme_.stages) {
    for (const FieldTerms& terms : stage) {
      if (terms.field != stress) continue;
      for (const Term& term : terms.terms) {
        double value = term.scale;
        for (const TermFactor& factor : term.factors)
          value *= loop::source_factor(factor.nodal, {}, model_, inside);
        const ir::Field& read = program_.field(term.field);
        if (read.kind != ir::FieldKind::vector || term.slopes.size() != 1) continue;
        if (read.component[0] != term.slopes[0].axis) continue;
        if (term.slopes[0].axis == normal) of_normal += value;
        if (term.slopes[0].axis == tangential) of_tangential += value;
      }
    }
  }
  return of_normal != 0 ? of_tangential / of_normal : 0.0;
}

}  // namespace ondula
