// Allocation, exchange with the caller, halos and rotation of the fields.
// SPDX-License-Identifier: MIT
#include "compiler/reference/state.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "compiler/error.hpp"

namespace ondula::reference {
namespace {

ir::Box live_box(const ir::Domain& domain, const ir::Field& field) {
  ir::Box box = domain.live(field);
  for (int axis = 0; axis < domain.dims && field.strip_axis >= 0; ++axis) {
    // A memory variable follows a derivative, which may be nonzero on a surface row where a scalar is not
    // live.
    const bool half = field.stagger[at(axis)] != 0;
    const bool periodic = domain.faces[at(axis)][0] == FaceKind::periodic;
    box[at(axis)] = {0, domain.total(axis) - (half && !periodic ? 1 : 0)};
  }
  return box;
}

}  // namespace

template <class Real>
State<Real>::State(const ir::Program& program, const ir::Domain& domain, const Layout& layout)
    : program_(program), layout_(layout) {
  const bool first_order = program.first_order();
  for (const ir::Field& field : program.fields) {
    FieldState<Real>& state = fields_[field.name];
    state.field = &field;
    state.live = live_box(domain, field);
    ir::Field whole = field;
    whole.inset.reset();
    state.held = live_box(domain, whole);
    for (int axis = 0; axis < layout.dims && field.strip_axis < 0 && !field.accumulator; ++axis) {
      state.images[at(axis)] = ir::field_images(domain, field, axis, first_order, layout.halo[at(axis)]);
    }
    for (std::size_t i = field.time_order == 2 ? 0 : 1; i < 3; ++i) {
      state.levels[i].assign(at(layout.size), Real(0));
    }
  }
  for (const ir::Operation& operation : program.operations) {
    if (const auto* update = std::get_if<ir::Update>(&operation)) of(update->field).updated = true;
  }
}

template <class Real>
const FieldState<Real>& State<Real>::of(const std::string& name) const {
  const auto found = fields_.find(name);
  if (found == fields_.end()) {
    throw InternalError(fmt::format("equation {} has no field {}", program_.equation, name));
  }
  return found->second;
}

template <class Real>
FieldState<Real>& State<Real>::of(const std::string& name) {
  return const_cast<FieldState<Real>&>(std::as_const(*this).of(name));
}

template <class Real>
const std::vector<Real>& State<Real>::level(const std::string& name, int level) const {
  const FieldState<Real>& state = of(name);
  if (level < -1 || level > 1 || state.levels[at(level + 1)].empty()) {
    throw InternalError(
        fmt::format("equation {}: {} keeps no time level {}", program_.equation, name, level));
  }
  return state.levels[at(level + 1)];
}

template <class Real>
std::vector<Real>& State<Real>::level(const std::string& name, int level) {
  return const_cast<std::vector<Real>&>(std::as_const(*this).level(name, level));
}

template <class Real>
void State<Real>::clear() {
  for (auto& [name, state] : fields_) {
    for (auto& array : state.levels) std::fill(array.begin(), array.end(), Real(0));
  }
}

template <class Real>
void State<Real>::set(const std::string& name, int which, std::span<const double> values) {
  std::vector<Real>& array = level(name, which);
  const ir::Box& live = of(name).held;
  const ir::Extents& total = layout_.total;
  const auto points = at(total[0] * total[1] * total[2]);
  if (values.size() != points) {
    throw InternalError(fmt::format("field {}: {} values for {} points", name, values.size(), points));
  }
  std::fill(array.begin(), array.end(), Real(0));
  for_rows(layout_, intersection(live, layout_.grid()),
           [&](std::int64_t first, std::int64_t count, const ir::Extents& i) {
             const std::int64_t from = (i[0] * total[1] + i[1]) * total[2] + i[2];
             for (std::int64_t n = 0; n < count; ++n)
               array[at(first + n)] = static_cast<Real>(values[at(from + n)]);
           });
  fill_halo(name, which);
}

template <class Real>
std::vector<double> State<Real>::get(const std::string& name, int which) const {
  const std::vector<Real>& array = level(name, which);
  const ir::Extents& total = layout_.total;
  std::vector<double> values(at(total[0] * total[1] * total[2]), 0.0);
  for_rows(layout_, intersection(of(name).held, layout_.grid()),
           [&](std::int64_t first, std::int64_t count, const ir::Extents& i) {
             const std::int64_t to = (i[0] * total[1] + i[1]) * total[2] + i[2];
             for (std::int64_t n = 0; n < count; ++n)
               values[at(to + n)] = static_cast<double>(array[at(first + n)]);
           });
  return values;
}

template <class Real>
void State<Real>::fill_halo(const std::string& name, int which) {
  std::vector<Real>& array = level(name, which);
  const FieldState<Real>& state = of(name);
  for (int axis = 0; axis < layout_.dims; ++axis) fill(layout_, axis, state.images[at(axis)], array);
}

template <class Real>
void State<Real>::begin_step() {
  for (auto& [name, state] : fields_) {
    if (state.updated && state.field->time_order != 2) state.levels[2] = state.levels[1];
  }
}

template <class Real>
void State<Real>::end_step() {
  for (auto& [name, state] : fields_) {
    if (!state.updated) continue;
    if (state.field->time_order == 2) {
      std::rotate(state.levels.begin(), state.levels.begin() + 1, state.levels.end());
    } else {
      std::swap(state.levels[1], state.levels[2]);
    }
  }
}

template class State<float>;
template class State<double>;

}  // namespace ondula::reference
