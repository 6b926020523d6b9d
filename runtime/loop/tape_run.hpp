// Running a tape on pieces of rows: values, tangents, and the transpose of the tangents.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <span>
#include <vector>

#include "runtime/loop/model.hpp"
#include "runtime/loop/tape.hpp"

namespace ondula::loop {

/// Where the nodes stand in the models that a tape reads around the entries of a box.
class BoxNodes {
 public:
  BoxNodes(const ir::Domain& domain, const ir::Box& box, const Tape& tape);
  /// The part of the flat model index that is common to a row, `shift` nodes from its entry `index`.
  std::int64_t base(const ir::Extents& index, const ir::Extents& shift) const;
  /// What entries k = 0, 1 ... of that row add to it.
  const std::int64_t* along(const ir::Extents& index, const ir::Extents& shift) const;
  /// kept[k] = 0 where entry k's node is one that a layer continues the model to. True if any is.
  bool layers(const ir::Extents& index, const ir::Extents& shift, std::span<int> kept) const;
  /// met[k] = how many free surfaces meet in entry k of that row. True if any does.
  bool surfaces(const ir::Extents& index, const ir::Extents& shift, std::span<int> met) const;

 private:
  const std::int64_t* node(int axis, const ir::Extents& index, const ir::Extents& shift) const;

  const ir::Domain& domain_;
  ir::Extents first_{};                                       // padded index of each map's first entry
  std::array<std::vector<std::int64_t>, ir::max_axes> maps_;  // times the model's stride
  std::array<std::vector<bool>, ir::max_axes> layered_;
};

/// Holds one row of up to `width` entries per step. What it is given must outlive it.
class TapeRun {
 public:
  TapeRun(const Tape& tape, const Models& models, const BoxNodes& nodes, std::size_t width);

  /// Parameters with an array here are those that tangents and transposes are taken in; null for the others.
  void differentiate(std::vector<const double*> directions);
  /// `interior`: transposes leave out what layers contribute.
  void differentiate(std::vector<double*> gradients, bool interior = false);

  /// The values at `count` entries of a row from `index` on; valid until the next call.
  std::span<const double> values(const ir::Extents& index, std::size_t count);
  /// After values(): their derivatives along the directions.
  std::span<const double> tangents();
  /// After values(): gradients += cotangents times the derivatives. What a cotangent of 0 multiplies counts
  /// as 0, infinite or not.
  void transpose(std::span<const double> cotangents);

 private:
  std::span<double> row(std::vector<double>& rows, std::size_t step) {
    return std::span(rows).subspan(step * width_, count_);
  }
  const double* value(std::size_t step) const { return values_.data() + step * width_; }
  void find_active(const std::vector<bool>& wanted);
  void forward(const TapeStep& step, double* out);
  void combine(const TapeStep& step, double* out) const;
  void select(const TapeStep& step, double* out);
  void select_slopes(const TapeStep& step, std::size_t j);
  /// d(step)/d(its argument j), a row; null for 1 everywhere.
  const double* slopes(std::size_t step, std::size_t j);
  void put_slopes(const TapeStep& step, const double* value, std::size_t j);

  const Tape& tape_;
  const Models& models_;
  const BoxNodes& nodes_;
  std::size_t width_;
  std::vector<const ModelArray*> parameters_;
  std::vector<const double*> directions_;
  std::vector<double*> gradients_;
  std::vector<bool> active_;  // of each step: depends on a parameter that is differentiated in
  std::vector<double> values_, derivatives_, slope_;
  std::vector<int> met_;
  bool interior_ = false;
  ir::Extents index_{};
  std::size_t count_ = 0;
};

}  // namespace ondula::loop
