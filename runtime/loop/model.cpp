// Storage and extension of model arrays.
// SPDX-License-Identifier: MIT
#include "runtime/loop/model.hpp"

#include <algorithm>

#include "compiler/error.hpp"
#include "compiler/ir/images.hpp"

namespace ondula::loop {

ModelArray::ModelArray(std::span<const double> values) {
  if (values.empty()) return;
  const auto largest = std::max_element(values.begin(), values.end());
  argmax_ = largest - values.begin();
  maximum_ = *largest;
  minimum_ = *std::min_element(values.begin(), values.end());
  if (minimum_ == maximum_) {
    constant_ = maximum_;
    return;
  }
  const bool exact = std::all_of(values.begin(), values.end(),
                                 [](double v) { return static_cast<double>(static_cast<float>(v)) == v; });
  if (!exact) {
    doubles_.assign(values.begin(), values.end());
    return;
  }
  floats_.reserve(values.size());
  for (const double v : values) floats_.push_back(static_cast<float>(v));
}

std::int64_t model_node(const ir::Domain& domain, int axis, std::int64_t i) {
  const auto a = static_cast<std::size_t>(axis);
  const std::int64_t node = ir::parameter_node(domain, axis, i) - domain.pad[a][0];
  return std::clamp<std::int64_t>(node, 0, domain.shape[a] - 1);
}

PaddedModel::PaddedModel(const ir::Domain& domain, const Models& models, int halo)
    : models_(models), dims_(domain.dims), halo_(halo) {
  std::int64_t stride = 1;
  for (int axis = dims_ - 1; axis >= 0; --axis) {
    const auto a = static_cast<std::size_t>(axis);
    stride_[a] = stride;
    stride *= domain.shape[a];
    auto& map = maps_[a];
    for (std::int64_t i = -halo; i < domain.total(axis) + halo; ++i)
      map.push_back(model_node(domain, axis, i));
  }
}

const ModelArray& PaddedModel::find(const std::string& name) const {
  const auto found = models_.find(name);
  if (found == models_.end()) throw InternalError("no model " + name);
  return found->second;
}

std::int64_t PaddedModel::outer_base(const ir::Extents& index) const {
  std::int64_t base = 0;
  for (int axis = 0; axis < dims_ - 1; ++axis) {
    const auto a = static_cast<std::size_t>(axis);
    base += mapped(axis, index[a]) * stride_[a];
  }
  return base;
}

void PaddedModel::row(const std::string& name, const ir::Extents& index, std::vector<double>& row) const {
  const ModelArray& array = find(name);
  const auto& map = maps_[static_cast<std::size_t>(dims_ - 1)];
  const std::int64_t base = outer_base(index);
  row.resize(map.size());
  for (std::size_t i = 0; i < map.size(); ++i) row[i] = array[base + map[i]];
}

double PaddedModel::at(const std::string& name, const ir::Extents& index) const {
  return find(name)[outer_base(index) + mapped(dims_ - 1, index[static_cast<std::size_t>(dims_ - 1)])];
}

}  // namespace ondula::loop
