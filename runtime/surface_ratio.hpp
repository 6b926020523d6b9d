// What the slope of a normal velocity at a free surface owes to the slopes along it: C_nt/C_nn.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "compiler/ir/program.hpp"
#include "runtime/loop/model.hpp"
#include "runtime/scheme.hpp"

namespace ondula {

/// The component of the first group of that kind along `axes`, in any order; throws InternalError if none.
const ir::Field& component_of(const ir::Program& program, ir::FieldKind kind, std::vector<int> axes);

/// C_nt/C_nn at nodes of a velocity-stress system: what the normal stress gains of dv_t/dt over what it gains
/// of dv_n/dn; 0 where it gains nothing of the latter. What is referred to must outlive this, unchanged.
class SurfaceRatio {
 public:
  SurfaceRatio(const ir::Program& program, const ir::Domain& domain, const loop::Models& models);

  /// The node of the padded grid whose ratio `node` has, which may lie beyond faces.
  ir::Extents inside(ir::Extents node) const;
  /// At a node of the padded grid.
  double at(int normal, int tangential, const ir::Extents& inside);

 private:
  struct Known {
    std::int64_t key = -1;
    double ratio = 0;
  };
  double gain(int normal, int axis, const ir::Extents& inside) const;

  const ir::Domain& domain_;
  loop::PaddedModel model_;
  /// [n][t]: the terms in dv_t/dt of the normal stress along n.
  std::array<std::array<std::vector<Term>, ir::max_axes>, ir::max_axes> terms_;
  std::vector<Known> known_;  // by key modulo its size, the last one met
};

/// Numerator and denominator of the ratio as nodal expressions in `program`'s own pool, pointwise in the
/// parameters: the medium itself, without what surfaces make of it, and both without the time step. Where
/// the denominator is 0, so is the ratio. Not to be called while others use the pool.
std::pair<ir::Expr, ir::Expr> ratio_expressions(const ir::Program& program, int normal, int tangential);

}  // namespace ondula
