// A Propagator's models, initial state and fields: what goes in and out on the grid's nodes.
// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <array>
#include <cmath>

#include "compiler/error.hpp"
#include "runtime/domain.hpp"
#include "runtime/propagator_impl.hpp"

namespace ondula {
namespace {

/// Visits model nodes: f(flat index on the padded domain, flat index on the grid).
template <class F>
void each_node(const ir::Domain& domain, const F& f) {
  ir::Extents i{};
  std::int64_t flat = 0;
  for (i[0] = 0; i[0] < domain.shape[0]; ++i[0]) {
    for (i[1] = 0; i[1] < domain.shape[1]; ++i[1]) {
      for (i[2] = 0; i[2] < domain.shape[2]; ++i[2]) {
        std::int64_t at = 0;
        for (int a = 0; a < ir::max_axes; ++a) {
          const auto axis = static_cast<std::size_t>(a);
          at = at * domain.total(a) + i[axis] + domain.pad[axis][0];
        }
        f(static_cast<std::size_t>(at), static_cast<std::size_t>(flat++));
      }
    }
  }
}

}  // namespace

void Propagator::Impl::set_model(const std::string& name, std::span<const double> values) {
  const ir::Parameter& parameter = find_parameter(name);
  if (parameter.uniform) return set_model(name, one_of_all("model " + name, values));
  require_count("model " + name, values.size());
  for (std::size_t i = 0; i < values.size(); ++i)
    require_allowed(parameter, values[i], static_cast<std::int64_t>(i));
  models_[name] = loop::ModelArray(values);
  models_changed_ = true;
  ++models_version_;
  limits_.reset();
}

double Propagator::Impl::one_of_all(const std::string& what, std::span<const double> values) const {
  if (values.size() != 1) require_count(what, values.size());
  for (std::size_t i = 1; i < values.size(); ++i) {
    if (values[i] == values[0]) continue;
    throw UserError(
        fmt::format("{}: it is uniform, one number for the whole model; found {} at index 0 and {} at "
                    "index {}",
                    what, values[0], values[i], i));
  }
  return values[0];
}

void Propagator::Impl::set_model(const std::string& name, double value) {
  require_allowed(find_parameter(name), value, -1);
  models_[name] = loop::ModelArray(value);
  models_changed_ = true;
  ++models_version_;
  limits_.reset();
}

void Propagator::Impl::set_initial(const std::string& name, std::span<const double> values) {
  const auto [field, level] = initial_name(name);
  require_count("initial " + name, values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!std::isfinite(values[i]))
      throw UserError(fmt::format("initial {}: value {} at index {}", name, values[i], i));
  }
  initial_[{field, level}] = padded(values);
}

void Propagator::Impl::require_count(const std::string& what, std::size_t count) const {
  std::int64_t nodes = 1;
  for (const std::int64_t n : grid_.shape) nodes *= n;
  if (static_cast<std::int64_t>(count) == nodes) return;
  throw UserError(fmt::format("{}: {} values for a grid of ({}), which has {} nodes", what, count,
                              fmt::join(grid_.shape, ", "), nodes));
}

const ir::Parameter& Propagator::Impl::find_parameter(const std::string& name) const {
  std::vector<std::string> known;
  for (const ir::Parameter& p : compilation_.physical.parameters) {
    if (p.name == name) return p;
    known.push_back(p.name);
  }
  throw UserError(fmt::format("equation {} has no parameter {}; it has: {}", compilation_.physical.equation,
                              name, fmt::join(known, ", ")));
}

void Propagator::Impl::require_allowed(const ir::Parameter& parameter, double value,
                                       std::int64_t flat) const {
  const bool fits = std::isfinite(value) && (parameter.sign != ir::Sign::positive || value > 0) &&
                    (parameter.sign != ir::Sign::nonnegative || value >= 0);
  if (fits) return;
  static constexpr std::array<const char*, 3> words = {"finite", "0 or more", "positive"};
  std::string where;
  if (flat >= 0) {
    std::vector<std::int64_t> cell(grid_.shape.size());
    for (std::size_t a = cell.size(); a-- > 0;) {
      cell[a] = flat % grid_.shape[a];
      flat /= grid_.shape[a];
    }
    where = " at cell (" + cell_text(grid_, cell) + ")";
  }
  throw UserError(fmt::format("model {}: {} {}{}; it must be {}", parameter.name, value, parameter.unit,
                              where, words[static_cast<std::size_t>(parameter.sign)]));
}

std::pair<std::string, int> Propagator::Impl::initial_name(const std::string& name) const {
  std::vector<std::string> known;
  for (const ir::Field& field : compilation_.physical.fields) {
    if (field.strip_axis >= 0) continue;
    if (field.name == name) return {field.name, 0};
    known.push_back(field.name);
    if (field.time_order != 2) continue;
    known.push_back(field.name + ".previous");
    if (known.back() == name) return {field.name, -1};
  }
  throw UserError(fmt::format("no initial state {}; there are: {}", name, fmt::join(known, ", ")));
}

const loop::Models& Propagator::Impl::complete_models() const {
  for (const ir::Parameter& p : compilation_.physical.parameters) {
    if (!models_.contains(p.name)) {
      throw UserError(
          fmt::format("equation {} needs the model {} ({})", compilation_.physical.equation, p.name, p.unit));
    }
  }
  return models_;
}

std::vector<double> Propagator::Impl::padded(std::span<const double> values) const {
  std::vector<double> result(static_cast<std::size_t>(domain_.points()), 0.0);
  each_node(domain_, [&](std::size_t at, std::size_t flat) { result[at] = values[flat]; });
  return result;
}

std::vector<double> Propagator::Impl::cropped(const std::vector<double>& values) const {
  std::vector<double> result(
      static_cast<std::size_t>(domain_.shape[0] * domain_.shape[1] * domain_.shape[2]));
  each_node(domain_, [&](std::size_t at, std::size_t flat) { result[flat] = values[at]; });
  return result;
}

}  // namespace ondula
