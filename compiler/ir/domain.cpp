// Extents, images and layer profiles.
// SPDX-License-Identifier: MIT
#include "compiler/ir/domain.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace ondula::ir {
namespace {

std::size_t at(int axis) { return static_cast<std::size_t>(axis); }

/// Rigid wall of a velocity-stress system: v_n and sigma_nt odd, the rest even. A perfect electric conductor:
/// what lies on the row, the electric field along it and the magnetic across, odd and 0 there.
int wall_sign(const Field& field, int axis) {
  if (field.electric) return field.stagger[at(axis)] != 0 ? 1 : -1;
  const auto count = std::count(field.component.begin(), field.component.end(), axis);
  return field.kind != FieldKind::scalar && count == 1 ? -1 : 1;
}

/// +1 or -1: the field's image about a free surface normal to `axis`. Scalars and every stress with that
/// index are odd, velocities and the other stresses even (numerics.md, Free surface).
int surface_sign(const Field& field, int axis) {
  if (field.electric)
    return wall_sign(field, axis);  // refused (pass surface); no face mirrors them otherwise
  const bool indexed =
      std::find(field.component.begin(), field.component.end(), axis) != field.component.end();
  switch (field.kind) {
    case FieldKind::scalar:
      return -1;
    case FieldKind::vector:
    case FieldKind::axial:
      return 1;
    case FieldKind::tensor:
      return indexed ? -1 : 1;
  }
  return -1;
}

struct Point {
  double a = 0, b = 0, k = 0, dk = 0;
};

Point layer_point(double depth, double length, double reflection, const LayerOptions& o, double outward) {
  const double f = std::clamp(depth, 0.0, 1.0);
  const double d0 = -3.0 * o.velocity * std::log(reflection) / (2.0 * length);
  const double d = d0 * f * f;
  const double alpha = std::numbers::pi * o.frequency * (1.0 - f);
  const double kappa = 1.0 + (o.kappa - 1.0) * f * f;
  Point p;
  p.a = std::exp(-(d / kappa + alpha) * o.dt);
  p.b = d > 0 ? (p.a - 1.0) * d / (kappa * (d + kappa * alpha)) : 0.0;
  p.k = 1.0 / kappa - 1.0;
  p.dk = -outward * 2.0 * (o.kappa - 1.0) * f / (length * kappa * kappa);
  return p;
}

}  // namespace

double layer_reflection(std::int64_t width) {
  return std::pow(10.0, -std::min(8.0, 3.0 + static_cast<double>(width) / 5.0));
}

std::int64_t Domain::total(int axis) const { return shape[at(axis)] + pad[at(axis)][0] + pad[at(axis)][1]; }

std::int64_t Domain::points() const { return total(0) * total(1) * total(2); }

Range Domain::live(const Field& field, int axis) const {
  if (axis >= dims) return {0, 1};
  Range range{0, total(axis)};
  const bool half = field.stagger[at(axis)] != 0;
  if (half && faces[at(axis)][0] != FaceKind::periodic) range.hi -= 1;
  for (int side = 0; side < 2; ++side) {
    const FaceKind face = faces[at(axis)][at(side)];
    const bool odd_surface = face == FaceKind::free_surface && surface_sign(field, axis) < 0;
    const bool conductor = face == FaceKind::rigid && field.electric;
    if (!half && !field.everywhere && (odd_surface || conductor || face == FaceKind::antisymmetric)) {
      if (side == 0)
        range.lo += 1;
      else
        range.hi -= 1;
    }
    if (field.inset && face == FaceKind::absorbing) {
      const std::int64_t cells = pad[at(axis)][at(side)] + ((*field.inset)[at(axis)] - (half ? 1 : 0)) / 2;
      if (side == 0)
        range.lo = std::max(range.lo, cells);
      else
        range.hi = std::min(range.hi, total(axis) - (half ? 1 : 0) - cells);
      continue;
    }
    if (field.beyond_axis != axis) continue;
    const int more = face == FaceKind::absorbing ? field.beyond : face == FaceKind::rigid ? 1 : 0;
    (side == 0 ? range.lo : range.hi) += side == 0 ? -more : more;
  }
  return range;
}

std::vector<Box> Domain::ring(const Field& field, const Depths& outer, const Depths& inner) const {
  Field wide = field, narrow = field;
  wide.inset = outer;
  narrow.inset = inner;
  Box rest = live(wide);
  Box core = live(narrow);
  std::vector<Box> boxes;
  for (int axis = 0; axis < dims; ++axis) {
    const std::size_t a = at(axis);
    // Where the rings of two faces meet there is no core: the first takes all.
    core[a].lo = std::clamp(core[a].lo, rest[a].lo, rest[a].hi);
    core[a].hi = std::clamp(core[a].hi, core[a].lo, rest[a].hi);
    if (core[a].size() == 0) core[a] = {rest[a].hi, rest[a].hi};
    Box box = rest;
    box[a] = {rest[a].lo, core[a].lo};
    boxes.push_back(box);
    box[a] = {core[a].hi, rest[a].hi};
    boxes.push_back(box);
    rest[a] = core[a];
  }
  return boxes;
}

Box Domain::live(const Field& field) const {
  Box box;
  for (int axis = 0; axis < max_axes; ++axis) box[at(axis)] = live(field, axis);
  return box;
}

int Domain::surfaces(int axis, std::int64_t index) const {
  if (axis >= dims) return 0;
  const auto& pair = faces[at(axis)];
  return (index == 0 && pair[0] == FaceKind::free_surface) ||
                 (index == total(axis) - 1 && pair[1] == FaceKind::free_surface)
             ? 1
             : 0;
}

bool Domain::has_free_surface() const {
  return std::any_of(faces.begin(), faces.begin() + dims, [](const auto& pair) {
    return pair[0] == FaceKind::free_surface || pair[1] == FaceKind::free_surface;
  });
}

Range Domain::strip(int axis, int side, bool half) const {
  if (axis >= dims) return {};
  const std::int64_t width = pad[at(axis)][at(side)];
  if (side == 0) return {0, width};
  const bool periodic = faces[at(axis)][0] == FaceKind::periodic;
  const std::int64_t end = total(axis) - (half && !periodic ? 1 : 0);
  return {end - width, end};
}

Range Domain::strip(const Field& field, int axis, int side) const {
  Range own = strip(axis, side, field.stagger[at(axis)] != 0);
  if (own.size() > 0 && field.inset) {
    const Range all = live(field, axis);
    return {std::clamp(own.lo, all.lo, std::max(all.lo, all.hi)),
            std::clamp(own.hi, all.lo, std::max(all.lo, all.hi))};
  }
  if (own.size() == 0 || field.beyond_axis != axis) return own;
  const Range all = live(field, axis);
  (side == 0 ? own.lo : own.hi) = side == 0 ? all.lo : all.hi;
  return own;
}

Range Domain::apron(int axis, int side, bool half, int radius) const {
  const Range own = strip(axis, side, half);
  const Range other = strip(axis, 1 - side, half);
  if (own.size() == 0) return {own.lo, own.lo};
  if (side == 0) return {own.hi, std::min(own.hi + radius, other.lo)};
  return {std::max(own.lo - radius, other.hi), own.lo};
}

Range Domain::beside(int axis, int side, bool half, int radius) const {
  const Range own = strip(axis, side, half);
  const Range other = strip(axis, 1 - side, half);
  if (own.size() == 0) return {own.lo, own.lo};
  if (side == 0) return {own.hi, std::min(own.hi + radius, other.hi)};
  return {std::max(own.lo - radius, other.lo), own.lo};
}

Image Domain::image(const Field& field, int axis, int side, bool first_order) const {
  if (axis >= dims) return {};
  const bool half = field.stagger[at(axis)] != 0;
  switch (faces[at(axis)][at(side)]) {
    case FaceKind::absorbing:
      return {ImageKind::zero, 0};
    case FaceKind::periodic:
      return {ImageKind::wrap, 1};
    case FaceKind::free_surface:
      return {ImageKind::node, surface_sign(field, axis)};
    case FaceKind::antisymmetric:
      return {ImageKind::node, half ? 1 : -1};
    case FaceKind::rigid:
      if (!first_order) return {ImageKind::beyond, -1};
      return {ImageKind::node, wall_sign(field, axis)};
  }
  return {};
}

std::vector<Profile> Domain::profiles(const LayerOptions& options) const {
  std::vector<Profile> result;
  for (int axis = 0; axis < dims; ++axis) {
    for (const bool half : {false, true}) {
      const auto count = static_cast<std::size_t>(total(axis));
      std::array<std::vector<double>, 4> values;
      for (auto& v : values) v.assign(count, 0.0);
      for (int side = 0; side < 2; ++side) {
        const Range range = strip(axis, side, half);
        const std::int64_t width = pad[at(axis)][at(side)];
        const double length = static_cast<double>(width) * spacing[at(axis)];
        const double reflection = options.reflection > 0 ? options.reflection : layer_reflection(width);
        for (std::int64_t i = range.lo; i < range.hi; ++i) {
          const double position = static_cast<double>(i) + (half ? 0.5 : 0.0);
          const double inner = static_cast<double>(side == 0 ? width : total(axis) - 1 - width);
          const double depth = std::fabs(position - inner) / static_cast<double>(width);
          const Point p = layer_point(depth, length, reflection, options, side == 0 ? -1.0 : 1.0);
          const auto n = static_cast<std::size_t>(i);
          values[0][n] = p.a;
          values[1][n] = p.b;
          values[2][n] = p.k;
          values[3][n] = p.dk;
        }
      }
      static constexpr std::array<const char*, 4> names = {"a", "b", "k", "dk"};
      for (std::size_t i = 0; i < names.size(); ++i) {
        result.push_back({names[i], axis, half, std::move(values[i])});
      }
    }
  }
  return result;
}

}  // namespace ondula::ir
