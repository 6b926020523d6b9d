// Points between the grid's own, near its faces too, as sums over entries of the fields.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "compiler/ir/points.hpp"
#include "compiler/ir/program.hpp"
#include "runtime/loop/model.hpp"
#include "runtime/loop/taps.hpp"
#include "runtime/surface_ratio.hpp"
#include "runtime/types.hpp"
#include "runtime/weight_sums.hpp"

namespace ondula {

/// The first field of a group of components of that kind, memory variables left out; null where there is
/// none.
const ir::Field* first_of(const std::vector<ir::Field>& fields, ir::FieldKind kind);

/// The derivative of a sum's weights with respect to C_nt/C_nn (SurfaceRatio) at one node: how the sum changes
/// with the model there.
struct RatioTaps {
  ir::Extents node{};  ///< on the row of a free surface, in padded indices, within the grid
  int normal = 0;
  int tangential = 0;
  std::vector<ir::FieldTaps> parts;
};

/// The same of a source or receiver: `point` is its number.
struct PointSlopes {
  std::size_t point = 0;
  RatioTaps ratio;
};

/// The value of a field at a point as a linear combination of grid entries (numerics.md, Sources and
/// receivers): interpolation, images beyond the faces, the rule for normal velocities at free surfaces.
/// Receivers are such sums, sources their transposes. `models` gives the rule's local coefficients; what is
/// referred to must outlive this, unchanged. With `slopes` each sum's derivatives are kept too.
class PointTaps {
 public:
  PointTaps(const ir::Program& program, const ir::Domain& domain, const loop::Models& models,
            bool slopes = false);

  /// The component along `axes`, in any order, of the first group of that kind; throws InternalError if none.
  const ir::Field& component(ir::FieldKind kind, std::vector<int> axes) const {
    return component_of(program_, kind, std::move(axes));
  }

  /// Adds weight * `field` at `cells` (model cells from the first node, within the grid) to the sum.
  void sample(const ir::Field& field, const std::vector<double>& cells, Interpolation interpolation,
              double weight);
  /// Adds weight times the strain rate (d_a v_b + d_b v_a)/2 there (per second).
  void strain(int a, int b, const std::vector<double>& cells, Interpolation interpolation, double weight);

  /// The sum, a part for each field that it reads, in padded indices; the next sum starts at nothing.
  std::vector<ir::FieldTaps> take();
  /// The derivatives of the sum last taken with respect to every ratio that it depends on, one that is 0
  /// included, by node, normal and tangential axis. Nothing without `slopes`, nor when called again.
  std::vector<RatioTaps> take_slopes();

 private:
  /// Where two surfaces meet, each rule calls for the other; after so many the plain image serves.
  static constexpr int deepest = 3;

  /// Which entry, times `sign`, an entry beyond the grid repeats; from < 0: none.
  struct Image {
    std::int64_t from = -1;
    double sign = 0;
  };
  /// The entries of a field along one axis.
  struct Line {
    ir::Range live;
    std::int64_t last = 0;             // beyond it and below 0 there are images
    std::vector<Image> below, beyond;  // of the entries -1, -2, ... and last + 1, last + 2, ...
  };
  /// A field, and the numbers of its entries among those of all fields.
  struct Entries {
    const ir::Field* field = nullptr;
    std::int64_t first = 0;
    int normal = -1;       // of a velocity component its axis
    ir::Range unmirrored;  // along it: the entries for which the rule of a free surface is not asked
    std::array<Line, ir::max_axes> lines;
    ir::Box plain;  // entries that stand for themselves
  };
  /// A weight, and its derivatives with respect to the ratios that it holds as factors.
  struct Weight {
    struct Slope {
      int ratio = 0;
      double value = 0;
    };
    double value = 0;
    int count = 0;
    std::array<Slope, deepest> slopes{};

    Weight times(double factor) const;
    bool nothing() const;
  };

  Entries entries_of(const ir::Field& field, std::int64_t first, bool first_order) const;
  const Entries& entries(const ir::Field& field) const;
  bool sample_on_row(const Entries& field, const std::vector<double>& cells, Interpolation interpolation,
                     double weight);
  void derivative(const Entries& field, int axis, const ir::Extents& index, bool from_half, double weight);
  void add(const Entries& field, const ir::Extents& index, double weight, int depth);
  void add(const Entries& field, ir::Extents index, const Weight& weight, int depth);
  void add_mirrored(const Entries& field, ir::Extents index, const Weight& weight, int depth);
  void add_normal_slope(int normal, const ir::Extents& row, const Weight& weight, int depth);
  Weight times_ratio(const Weight& weight, int normal, int tangential, const ir::Extents& node);
  std::vector<ir::FieldTaps> parts_of(const WeightSums::Entry* begin, const WeightSums::Entry* end) const;

  const ir::Program& program_;
  const ir::Domain& domain_;
  std::optional<SurfaceRatio> ratio_;  // without stresses there is no rule for normal velocities, only images
  std::array<std::array<bool, 2>, ir::max_axes> free_{};  // faces where the rule holds
  std::vector<double> weights_;                           // of the staggered derivative
  std::vector<Entries> fields_;                           // by name
  std::array<int, ir::max_axes> velocity_{-1, -1, -1};    // of fields_, by axis
  ir::Extents stride_{};                                  // of the entries' numbers
  loop::SincWeights sinc_;
  WeightSums sum_;
  std::vector<WeightSums::Entry> taken_;

  bool slopes_ = false;
  std::map<std::tuple<ir::Extents, int, int>, int> numbers_;  // of the ratios that the sum holds
  WeightSums sloped_;  // keys: ratio * entries of all fields + entry
  std::vector<RatioTaps> taken_slopes_;
};

}  // namespace ondula
