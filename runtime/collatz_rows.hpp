// Rows of a scheme's operator in absolute values: taps, coefficients and the images beyond the faces.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "compiler/ir/domain.hpp"
#include "compiler/ir/program.hpp"
#include "runtime/loop/model.hpp"
#include "runtime/scheme.hpp"

namespace ondula {

/// One read of a row: which field of the stage that is read, how many cells away, with what weight.
struct AbsoluteTap {
  std::size_t field = 0;
  std::array<int, ir::max_axes> offset{};
  double weight = 0;
};

/// A coefficient at a point of the update, in half cells from its cell's node: a product of (harmonic means
/// of) nodal expressions.
struct PlacedFactor {
  ir::Expr nodal;
  ir::HalfCells at{};
  friend bool operator==(const PlacedFactor&, const PlacedFactor&) = default;
};
using PlacedProduct = std::vector<PlacedFactor>;

/// Taps that share |sum of ratio * product|.
struct TapGroup {
  std::vector<std::pair<PlacedProduct, double>> coefficient;
  std::vector<AbsoluteTap> taps;
};

/// The taps of `terms`, which read the fields of `read`: what reads one point is added before the absolute
/// value is taken, so that this is |A| and not more.
std::vector<TapGroup> absolute_row(const ir::Program& program, const FieldTerms& terms,
                                   const std::vector<FieldTerms>& read, const ir::Domain& domain);

/// Values of placed coefficients along rows of the innermost axis.
class CoefficientRows {
 public:
  CoefficientRows(const ir::Domain& domain, const loop::Models& models, int reach);
  /// out[i] = |sum ratio * product| at points (index, i) for the whole innermost axis.
  void row(const TapGroup& group, const ir::Extents& index, std::vector<float>& out);

 private:
  struct Nodal {
    ir::Expr expression;
    ir::Extents index{};
    std::vector<double> values;
  };
  const std::vector<double>& nodal(ir::Expr e, const ir::Extents& index);
  void placed(const PlacedFactor& factor, const ir::Extents& index, std::vector<double>& out);

  ir::Domain domain_;
  loop::PaddedModel model_;
  int reach_;
  std::int64_t count_;
  ir::Extents at_{-1, -1, -1};
  std::vector<Nodal> known_;  // of the row at hand: the fields of one cell share corners
};

}  // namespace ondula
