// Points between the grid's own, near its faces too, as sums over entries of the fields.
// SPDX-License-Identifier: MIT
#include "runtime/point_taps.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "compiler/error.hpp"
#include "compiler/ir/images.hpp"
#include "compiler/passes/stencil.hpp"

namespace ondula {
namespace {

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

}  // namespace

const ir::Field* first_of(const std::vector<ir::Field>& fields, ir::FieldKind kind) {
  const auto found = std::find_if(fields.begin(), fields.end(), [&](const ir::Field& f) {
    return f.kind == kind && f.strip_axis < 0 && !f.component.empty();
  });
  return found == fields.end() ? nullptr : &*found;
}

PointTaps::Weight PointTaps::Weight::times(double factor) const {
  Weight result = *this;
  result.value *= factor;
  for (int i = 0; i < count; ++i) result.slopes[at(i)].value *= factor;
  return result;
}

bool PointTaps::Weight::nothing() const {
  return value == 0 && std::all_of(slopes.begin(), slopes.begin() + count,
                                   [](const Slope& slope) { return slope.value == 0; });
}

PointTaps::PointTaps(const ir::Program& program, const ir::Domain& domain, const loop::Models& models,
                     bool slopes)
    : program_(program), domain_(domain), slopes_(slopes) {
  const bool first_order = program.first_order();
  if (first_of(program.fields, ir::FieldKind::tensor) != nullptr) {
    ratio_.emplace(program, domain, models);
    for (int axis = 0; axis < domain.dims; ++axis) {
      for (int side = 0; side < 2; ++side)
        free_[at(axis)][at(side)] = domain.faces[at(axis)][at(side)] == FaceKind::free_surface;
    }
  }
  for (const ir::Number& weight : passes::staggered(program.order)) weights_.push_back(weight.value());
  std::int64_t stride = 1;
  for (int axis = domain.dims - 1; axis >= 0; --axis) {
    stride_[at(axis)] = stride;
    stride *= domain.total(axis);
  }
  std::map<std::string, const ir::Field*> by_name;
  for (const ir::Field& field : program.fields) {
    if (field.strip_axis < 0) by_name[field.name] = &field;
  }
  for (const auto& [name, field] : by_name)
    fields_.push_back(
        entries_of(*field, static_cast<std::int64_t>(fields_.size()) * domain.points(), first_order));
  if (first_of(program.fields, ir::FieldKind::vector) == nullptr) return;
  for (int axis = 0; axis < domain.dims; ++axis) {
    const ir::Field& along = component(ir::FieldKind::vector, {axis});
    velocity_[at(axis)] = static_cast<int>(&entries(along) - fields_.data());
  }
}

PointTaps::Entries PointTaps::entries_of(const ir::Field& field, std::int64_t first, bool first_order) const {
  Entries result;
  result.field = &field;
  result.first = first;
  if (field.kind == ir::FieldKind::vector) {
    const int n = result.normal = field.component[0];
    constexpr auto least = std::numeric_limits<std::int64_t>::min();
    constexpr auto most = std::numeric_limits<std::int64_t>::max();
    result.unmirrored = {free_[at(n)][0] ? 0 : least, free_[at(n)][1] ? domain_.total(n) - 1 : most};
  }
  const std::int64_t reach = 8 + program_.order;
  result.plain.fill({0, 1});
  for (int axis = 0; axis < domain_.dims; ++axis) {
    Line& line = result.lines[at(axis)];
    line.live = domain_.live(field, axis);
    line.last = domain_.total(axis) - 1;
    const auto images = ir::field_images(domain_, field, axis, first_order, reach);
    for (const ir::Repeat& image : images) {
      if (image.to >= 0) line.last = std::min(line.last, image.to - 1);
    }
    line.below.resize(at(reach));
    line.beyond.resize(at(domain_.total(axis) + reach - line.last));
    for (const ir::Repeat& image : images) {
      if (image.sign == 0 || image.from < line.live.lo || image.from >= line.live.hi) continue;
      (image.to < 0 ? line.below[at(-1 - image.to)] : line.beyond[at(image.to - line.last - 1)]) = {
          image.from, static_cast<double>(image.sign)};
    }
    result.plain[at(axis)] = line.live;
    if (axis != result.normal) continue;
    result.plain[at(axis)].lo = std::max(line.live.lo, result.unmirrored.lo);
    result.plain[at(axis)].hi = std::min(line.live.hi, result.unmirrored.hi);
  }
  return result;
}

const PointTaps::Entries& PointTaps::entries(const ir::Field& field) const {
  for (const Entries& own : fields_) {
    if (own.field->name == field.name) return own;
  }
  throw InternalError("no points of " + field.name);
}

void PointTaps::sample(const ir::Field& field, const std::vector<double>& cells, Interpolation interpolation,
                       double weight) {
  const Entries& own = entries(field);
  if (own.normal >= 0 && sample_on_row(own, cells, interpolation, weight)) return;
  for (const ir::Tap& tap : loop::unfolded_taps(domain_, field.stagger, cells, interpolation, sinc_))
    add(own, tap.index, weight * tap.weight, 0);
}

/// On the row of a free surface a normal velocity has no point of its own. False elsewhere.
bool PointTaps::sample_on_row(const Entries& field, const std::vector<double>& cells,
                              Interpolation interpolation, double weight) {
  const int n = field.normal;
  for (int side = 0; side < 2; ++side) {
    const auto last = static_cast<double>(domain_.shape[at(n)] - 1);
    if (!free_[at(n)][at(side)] || std::fabs(cells[at(n)] - (side == 0 ? 0 : last)) > 1e-9) continue;
    const std::int64_t row = side == 0 ? 0 : domain_.total(n) - 1;
    const double outward = side == 0 ? -1 : 1;
    ir::HalfCells half = field.field->stagger;
    half[at(n)] = 0;
    for (ir::Tap tap : loop::unfolded_taps(domain_, half, cells, interpolation, sinc_)) {
      const double w = weight * tap.weight / 8;
      tap.index[at(n)] = row;
      add_normal_slope(n, tap.index, {3 * outward * domain_.spacing[at(n)] * w}, 0);
      tap.index[at(n)] = side == 0 ? 0 : row - 1;
      add(field, tap.index, 9 * w, 0);
      tap.index[at(n)] += side == 0 ? 1 : -1;
      add(field, tap.index, -w, 0);
    }
    return true;
  }
  return false;
}

/// e_ab = (d_a v_b + d_b v_a)/2 lives on nodes where a = b, else half a cell along both.
void PointTaps::strain(int a, int b, const std::vector<double>& cells, Interpolation interpolation,
                       double weight) {
  const Entries& of_a = fields_.at(at(velocity_[at(a)]));
  const Entries& of_b = fields_.at(at(velocity_[at(b)]));
  ir::HalfCells half{};
  if (a != b) half[at(a)] = half[at(b)] = 1;
  for (const ir::Tap& tap : loop::unfolded_taps(domain_, half, cells, interpolation, sinc_)) {
    const double w = weight * tap.weight * (a == b ? 1.0 : 0.5);
    derivative(of_b, a, tap.index, a != b, w);
    if (a != b) derivative(of_a, b, tap.index, true, w);
  }
}

/// The staggered derivative of `field` along `axis` at entry `index` of a grid that lies half a cell off the
/// field's own along that axis: `from_half` tells on which side.
void PointTaps::derivative(const Entries& field, int axis, const ir::Extents& index, bool from_half,
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

void PointTaps::add(const Entries& field, const ir::Extents& index, double weight, int depth) {
  std::int64_t key = field.first;
  for (std::size_t a = 0; a < index.size(); ++a) {
    if (index[a] < field.plain[a].lo || index[a] >= field.plain[a].hi) {
      add(field, index, Weight{weight}, depth);
      return;
    }
    key += index[a] * stride_[a];
  }
  sum_.add(key, weight);
}

void PointTaps::add(const Entries& field, ir::Extents index, const Weight& weight, int depth) {
  if (field.normal >= 0 && depth < deepest) {
    const std::int64_t i = index[at(field.normal)];
    if (i < field.unmirrored.lo || i >= field.unmirrored.hi) {
      add_mirrored(field, index, weight, depth);
      return;
    }
  }
  std::int64_t key = field.first;
  double sign = 1;
  for (int axis = 0; axis < domain_.dims; ++axis) {
    const Line& line = field.lines[at(axis)];
    std::int64_t i = index[at(axis)];
    if (i < line.live.lo || i >= line.live.hi) {
      const std::size_t out = at(i < 0 ? -1 - i : i - line.last - 1);
      const std::vector<Image>& images = i < 0 ? line.below : line.beyond;
      if ((i >= 0 && i <= line.last) || out >= images.size() || images[out].from < 0) return;
      i = images[out].from;
      sign *= images[out].sign;
    }
    key += i * stride_[at(axis)];
  }
  sum_.add(key, weight.value * sign);
  for (int s = 0; s < weight.count; ++s) {
    const Weight::Slope& slope = weight.slopes[at(s)];
    const auto all = static_cast<std::int64_t>(fields_.size()) * domain_.points();
    sloped_.add(slope.ratio * all + key, slope.value * sign);
  }
}

/// A normal velocity beyond a free surface.
void PointTaps::add_mirrored(const Entries& field, ir::Extents index, const Weight& weight, int depth) {
  const int n = field.normal;
  const std::int64_t row = index[at(n)] < 0 && free_[at(n)][0] ? 0 : domain_.total(n) - 1;
  const std::int64_t mirrored = 2 * row - index[at(n)] - 1;
  // Beyond the surface by z: v(-z) = v(z) - 2 z dv/dn, the coordinate growing inwards at a minus face.
  const double distance = (static_cast<double>(index[at(n)] - row) + 0.5) * domain_.spacing[at(n)];
  ir::Extents on_row = index;
  on_row[at(n)] = row;
  add_normal_slope(n, on_row, weight.times(2 * distance), depth + 1);
  index[at(n)] = mirrored;
  add(field, index, weight, depth);
}

/// dv_n/dn on a row of a free surface, at a node: -sum_t C_nt/C_nn dv_t/dt, from s_nn = 0 there.
void PointTaps::add_normal_slope(int normal, const ir::Extents& row, const Weight& weight, int depth) {
  for (int t = 0; t < domain_.dims; ++t) {
    if (t == normal) continue;
    const Entries& along = fields_.at(at(velocity_[at(t)]));
    // The node may itself lie beyond another face; its coefficients are the padded model's.
    const Weight of_slope = times_ratio(weight.times(-1), normal, t, row);
    if (of_slope.nothing()) continue;
    for (std::size_t m = 1; m <= weights_.size(); ++m) {
      const double w = weights_[m - 1];
      ir::Extents there = row;
      for (const bool up : {true, false}) {
        there[at(t)] = row[at(t)] + (up ? static_cast<std::int64_t>(m) - 1 : -static_cast<std::int64_t>(m));
        if (slopes_)
          add(along, there, of_slope.times(up ? w : -w), depth + 1);
        else
          add(along, there, of_slope.value * (up ? w : -w), depth + 1);
      }
    }
  }
}

/// The product, over the spacing along the surface.
PointTaps::Weight PointTaps::times_ratio(const Weight& weight, int normal, int tangential,
                                         const ir::Extents& node) {
  const ir::Extents inside = ratio_->inside(node);
  const double ratio = ratio_->at(normal, tangential, inside), h = domain_.spacing[at(tangential)];
  Weight result = weight;
  result.value = ratio * weight.value / h;
  if (!slopes_) return result;
  for (int s = 0; s < weight.count; ++s) result.slopes[at(s)].value = ratio * weight.slopes[at(s)].value / h;
  const int next = static_cast<int>(numbers_.size());
  const int number = numbers_.try_emplace({inside, normal, tangential}, next).first->second;
  result.slopes.at(at(result.count++)) = {number, weight.value / h};
  return result;
}

/// Of entries in the order of their keys, all of one sum.
std::vector<ir::FieldTaps> PointTaps::parts_of(const WeightSums::Entry* begin,
                                               const WeightSums::Entry* end) const {
  const std::int64_t points = domain_.points();
  std::vector<ir::FieldTaps> parts;
  while (begin != end) {
    const std::int64_t number = begin->key / points % static_cast<std::int64_t>(fields_.size());
    const std::int64_t after = (begin->key / points + 1) * points;
    const auto* stop = std::find_if(begin, end, [&](const WeightSums::Entry& e) { return e.key >= after; });
    ir::FieldTaps& part = parts.emplace_back();
    part.field = fields_[at(number)].field->name;
    part.taps.reserve(at(stop - begin));  // no more: many receivers have many of them
    for (; begin != stop; ++begin) {
      ir::Tap tap{{}, begin->weight};
      std::int64_t rest = begin->key % points;
      for (int axis = 0; axis < domain_.dims; ++axis) {
        tap.index[at(axis)] = rest / stride_[at(axis)];
        rest %= stride_[at(axis)];
      }
      part.taps.push_back(tap);
    }
  }
  return parts;
}

std::vector<ir::FieldTaps> PointTaps::take() {
  sum_.take(taken_);
  std::vector<ir::FieldTaps> parts = parts_of(taken_.data(), taken_.data() + taken_.size());
  if (!slopes_) return parts;
  taken_slopes_.clear();
  sloped_.take(taken_);
  const auto all = static_cast<std::int64_t>(fields_.size()) * domain_.points();
  const auto from = [&](std::int64_t ratio) {
    return std::partition_point(taken_.begin(), taken_.end(),
                                [&](const WeightSums::Entry& e) { return e.key < ratio * all; }) -
           taken_.begin();
  };
  for (const auto& [ratio, number] : numbers_) {
    auto slopes = parts_of(taken_.data() + from(number), taken_.data() + from(number + 1));
    const auto& [node, normal, tangential] = ratio;
    if (!slopes.empty()) taken_slopes_.push_back({node, normal, tangential, std::move(slopes)});
  }
  numbers_.clear();
  return parts;
}

std::vector<RatioTaps> PointTaps::take_slopes() { return std::exchange(taken_slopes_, {}); }

}  // namespace ondula
