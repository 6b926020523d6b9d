// The model arrays of a run, and how they extend under the layers and beyond the faces.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "compiler/ir/domain.hpp"

namespace ondula::loop {

/// One parameter, a value per node of the unpadded grid (C order). A constant takes no memory; values that
/// are all exact in float take 4 bytes each.
class ModelArray {
 public:
  ModelArray() = default;
  explicit ModelArray(double constant) : constant_(constant), minimum_(constant), maximum_(constant) {}
  explicit ModelArray(std::span<const double> values);

  double operator[](std::int64_t i) const {
    if (!floats_.empty()) return static_cast<double>(floats_[static_cast<std::size_t>(i)]);
    return doubles_.empty() ? constant_ : doubles_[static_cast<std::size_t>(i)];
  }
  bool is_constant() const { return floats_.empty() && doubles_.empty(); }
  double minimum() const { return minimum_; }
  double maximum() const { return maximum_; }
  std::int64_t argmax() const { return argmax_; }  ///< flat index of the (first) largest value
  std::size_t bytes() const { return floats_.size() * sizeof(float) + doubles_.size() * sizeof(double); }

 private:
  double constant_ = 0;
  std::vector<float> floats_;
  std::vector<double> doubles_;
  double minimum_ = 0, maximum_ = 0;
  std::int64_t argmax_ = 0;
};

using Models = std::map<std::string, ModelArray>;

/// The index along `axis` of the model's node whose values stand at padded index `i`, in a layer or beyond a
/// face (ir::parameter_node).
std::int64_t model_node(const ir::Domain& domain, int axis, std::int64_t i);

/// Nodal values of the padded domain and `halo` cells beyond: edge values under layers and beyond absorbing
/// faces, mirror images at free surfaces and rigid walls, the other end at periodic faces.
class PaddedModel {
 public:
  PaddedModel(const ir::Domain& domain, const Models& models, int halo);
  /// row[k] = parameter at padded (outer..., k - halo) for the whole innermost axis with its halo.
  void row(const std::string& name, const ir::Extents& index, std::vector<double>& row) const;
  double at(const std::string& name, const ir::Extents& index) const;
  std::int64_t row_size() const {
    return static_cast<std::int64_t>(maps_[static_cast<std::size_t>(dims_ - 1)].size());
  }

 private:
  const ModelArray& find(const std::string& name) const;
  std::int64_t outer_base(const ir::Extents& index) const;
  std::int64_t mapped(int axis, std::int64_t index) const {
    return maps_[static_cast<std::size_t>(axis)][static_cast<std::size_t>(index + halo_)];
  }

  const Models& models_;
  int dims_;
  int halo_;
  std::array<std::vector<std::int64_t>, ir::max_axes> maps_;  // padded index + halo -> model index
  ir::Extents stride_{};                                      // of the model
};

}  // namespace ondula::loop
