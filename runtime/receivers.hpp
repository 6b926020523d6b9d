// Receivers as taps: components, pressure, strain rates and fibres, with the rules beside free surfaces.
// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "compiler/ir/images.hpp"
#include "compiler/ir/points.hpp"
#include "compiler/ir/program.hpp"
#include "runtime/loop/model.hpp"
#include "runtime/scheme.hpp"
#include "runtime/types.hpp"

namespace ondula {

/// What a receiver can record of an equation besides its fields: "pressure" and "fibre", "e.zz", ... where it
/// has a symmetric tensor and a vector.
std::vector<std::string> derived_receivers(const std::vector<ir::Field>& fields,
                                           const std::vector<std::string>& axes);

/// The field whose time a receiver's samples have: itself, or one of those it combines.
const ir::Field& timed_field(const ir::Program& program, const std::string& receiver);

/// Turns receivers into linear combinations of the fields' own points (numerics.md, Sources and receivers,
/// Free surface). `models` gives the local coefficients of the rule for normal velocities.
class ReceiverTaps {
 public:
  ReceiverTaps(const ir::Program& program, const ir::Domain& domain, const Grid& grid,
               const loop::Models& models);
  /// Throws UserError, `what` in front, for a field the equation does not have, a position outside, a fibre
  /// without a direction.
  ir::PointReceiver of(const Receiver& receiver, const std::string& what);

 private:
  using Key = std::pair<std::string, ir::Extents>;

  const ir::Field& component(ir::FieldKind kind, std::vector<int> axes) const;
  void sample(const ir::Field& field, const std::vector<double>& cells, Interpolation interpolation,
              double weight);
  void strain(int a, int b, const std::vector<double>& cells, Interpolation interpolation, double weight);
  void derivative(const ir::Field& field, int axis, const ir::Extents& index, bool from_half, double weight);
  void add(const ir::Field& field, ir::Extents index, double weight, int depth);
  void add_normal_slope(int normal, const ir::Extents& row, double weight, int depth);
  std::optional<int> surface_beyond(const ir::Field& field, const ir::Extents& index) const;
  bool free(int axis, int side) const;
  double ratio(int normal, int tangential, const ir::Extents& node) const;

  const ir::Program& program_;
  const ir::Domain& domain_;
  const Grid& grid_;
  Scheme scheme_;
  loop::PaddedModel model_;
  bool first_order_ = false;
  std::vector<double> weights_;  // of the staggered derivative
  std::map<std::string, std::vector<std::map<std::int64_t, ir::Repeat>>> images_;
  std::map<Key, double> sum_;
};

}  // namespace ondula
