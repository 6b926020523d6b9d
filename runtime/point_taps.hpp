// Points between the grid's own, near its faces too, as sums over entries of the fields.
// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/ir/images.hpp"
#include "compiler/ir/points.hpp"
#include "compiler/ir/program.hpp"
#include "runtime/loop/model.hpp"
#include "runtime/scheme.hpp"
#include "runtime/types.hpp"

namespace ondula {

/// The first field of a group of components of that kind, memory variables left out; null where there is
/// none.
const ir::Field* first_of(const std::vector<ir::Field>& fields, ir::FieldKind kind);

/// The value of a field at a point as a linear combination of grid entries (numerics.md, Sources and
/// receivers): interpolation, images beyond the faces, the rule for normal velocities at free surfaces.
/// Receivers are such sums, sources their transposes. `models` gives the rule's local coefficients; what is
/// referred to must outlive this.
class PointTaps {
 public:
  PointTaps(const ir::Program& program, const ir::Domain& domain, const loop::Models& models);

  /// The component along `axes`, in any order, of the first group of that kind; throws InternalError if none.
  const ir::Field& component(ir::FieldKind kind, std::vector<int> axes) const;

  /// Adds weight * `field` at `cells` (model cells from the first node, within the grid) to the sum.
  void sample(const ir::Field& field, const std::vector<double>& cells, Interpolation interpolation,
              double weight);
  /// Adds weight times the strain rate (d_a v_b + d_b v_a)/2 there (per second).
  void strain(int a, int b, const std::vector<double>& cells, Interpolation interpolation, double weight);

  /// The sum, a part for each field that it reads, in padded indices; the next sum starts at nothing.
  std::vector<ir::FieldTaps> take();

 private:
  using Key = std::pair<std::string, ir::Extents>;

  bool sample_on_row(const ir::Field& field, const std::vector<double>& cells, Interpolation interpolation,
                     double weight);
  void derivative(const ir::Field& field, int axis, const ir::Extents& index, bool from_half, double weight);
  void add(const ir::Field& field, ir::Extents index, double weight, int depth);
  void add_normal_slope(int normal, const ir::Extents& row, double weight, int depth);
  std::optional<int> surface_beyond(const ir::Field& field, const ir::Extents& index) const;
  bool free(int axis, int side) const;
  double ratio(int normal, int tangential, const ir::Extents& node) const;

  const ir::Program& program_;
  const ir::Domain& domain_;
  Scheme scheme_;
  loop::PaddedModel model_;
  bool first_order_ = false;
  bool stresses_ = false;        // without them there is no rule for normal velocities, only their images
  std::vector<double> weights_;  // of the staggered derivative
  std::map<std::string, std::vector<std::map<std::int64_t, ir::Repeat>>> images_;
  std::map<Key, double> sum_;
};

}  // namespace ondula
