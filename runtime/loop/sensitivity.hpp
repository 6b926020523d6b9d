// What does not vary in time, in double, and how it changes with the models: values, tangents, transposes.
// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/loop/tape.hpp"
#include "runtime/loop/tape_run.hpp"

namespace ondula::loop {

/// dJ/dmodel, on the nodes of the unpadded grid, C order. The caller gives an array of zeros for each
/// parameter it asks for; what is not asked for is not computed.
struct ModelGradient {
  std::map<std::string, std::vector<double>> arrays;
  bool interior = false;  ///< what layers continue the models to counts as given: its part is dropped
};

/// A change of the models, likewise; parameters that are not in it do not change.
using Perturbation = std::map<std::string, std::vector<double>>;

/// Values of an expression over rows of a box: nothing is kept but one row's pieces.
class ValueRows {
 public:
  /// All but `tape` must outlive this.
  ValueRows(Tape tape, const ir::Domain& domain, const Models& models, const ir::Box& box);
  ValueRows(const ValueRows&) = delete;
  ValueRows& operator=(const ValueRows&) = delete;
  /// The values at `count` entries of a row of the box from `index` on, at most as many as
  /// Sensitivity::transpose asks for at a time; valid until the next call.
  std::span<const double> values(const ir::Extents& index, std::size_t count) {
    return run_.values(index, count);
  }

 private:
  Tape tape_;
  BoxNodes nodes_;
  TapeRun run_;
};

/// Fills `row` with the cotangents of the entries from `index` on along the innermost axis.
using CotangentRow = std::function<void(const ir::Extents& index, std::span<double> row)>;

/// Values and derivatives of expressions of symbols and parameters, harmonic means and surface values
/// included (numerics.md, Space and Gradient). Entries are given in padded indices and may lie any distance
/// beyond the faces, where parameters are those of model_node, so that transposes add to that node. Throws
/// InternalError for what it cannot evaluate and for arrays of another size than the model's or the box's.
class Sensitivity {
 public:
  /// All but `symbols` must outlive this.
  Sensitivity(const ir::Domain& domain, ir::Symbols symbols, const Models& models);

  /// `e` at the entry `index`.
  double value(ir::Expr e, const ir::Extents& index, Surfaces surfaces = Surfaces::counted) const;
  /// `e` over `box`, C order. Axes the grid does not have count one entry, whatever the box says of them.
  std::vector<double> values(ir::Expr e, const ir::Box& box) const;

  /// gradient += cotangent * de/dmodel at one entry, or over a box with the cotangents in its C order. An
  /// entry whose cotangent is 0 contributes nothing, even where its derivative is infinite or no number.
  void transpose(ir::Expr e, const ir::Extents& index, double cotangent, ModelGradient& gradient,
                 Surfaces surfaces = Surfaces::counted) const;
  void transpose(ir::Expr e, const ir::Box& box, std::span<const double> cotangent,
                 ModelGradient& gradient) const;
  /// The same with cotangents that are made as they are needed.
  void transpose(ir::Expr e, const ir::Box& box, const CotangentRow& cotangents,
                 ModelGradient& gradient) const;
  /// `e` over `box`, a piece of a row at a time.
  std::unique_ptr<ValueRows> rows(ir::Expr e, const ir::Box& box) const;

  /// The derivative of `e` along `perturbation`.
  double tangent(ir::Expr e, const ir::Extents& index, const Perturbation& perturbation,
                 Surfaces surfaces = Surfaces::counted) const;
  std::vector<double> tangents(ir::Expr e, const ir::Box& box, const Perturbation& perturbation) const;

 private:
  Tape tape(ir::Expr e, Surfaces surfaces) const;
  /// Values, or tangents along a perturbation.
  std::vector<double> gathered(const Tape& tape, const ir::Box& box, const Perturbation* perturbation) const;
  void transpose(const Tape& tape, const ir::Box& box, const CotangentRow& cotangents,
                 ModelGradient& gradient) const;
  ir::Box used(ir::Box box) const;
  void require_nodes(const std::string& name, std::size_t count) const;

  const ir::Domain& domain_;
  ir::Symbols symbols_;
  const Models& models_;
};

}  // namespace ondula::loop
