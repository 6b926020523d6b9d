// Extents and strides of the oracle's arrays.
// SPDX-License-Identifier: MIT
#include "compiler/reference/layout.hpp"

#include <algorithm>

namespace ondula::reference {

int reach(ir::Expr e, int axis, int radius) {
  int widest = 0;
  for (const ir::Expr arg : e->args) widest = std::max(widest, reach(arg, axis, radius));
  return widest + (e->kind == ir::Kind::derivative && e->axis == axis ? radius : 0);
}

Layout::Layout(const ir::Program& program, const ir::Domain& domain) : dims(program.dims()) {
  for (int axis = 0; axis < dims; ++axis) {
    int widest = 0;
    for (const ir::Operation& operation : program.operations) {
      if (const auto* update = std::get_if<ir::Update>(&operation)) {
        widest = std::max(widest, reach(update->value, axis, program.radius()));
      }
    }
    total[at(axis)] = domain.total(axis);
    halo[at(axis)] = widest + 1;
  }
  size = 1;
  for (int axis = ir::max_axes - 1; axis >= 0; --axis) {
    stride[at(axis)] = size;
    size *= total[at(axis)] + 2 * halo[at(axis)];
  }
}

std::int64_t Layout::index(const ir::Extents& i) const {
  std::int64_t result = 0;
  for (std::size_t a = 0; a < i.size(); ++a) result += (i[a] + halo[a]) * stride[a];
  return result;
}

ir::Box Layout::grid() const {
  ir::Box box;
  for (std::size_t a = 0; a < box.size(); ++a) box[a] = {0, total[a]};
  return box;
}

ir::Box Layout::everything() const {
  ir::Box box;
  for (std::size_t a = 0; a < box.size(); ++a) box[a] = {-halo[a], total[a] + halo[a]};
  return box;
}

ir::Box intersection(const ir::Box& a, const ir::Box& b) {
  ir::Box box;
  for (std::size_t i = 0; i < box.size(); ++i) {
    box[i] = {std::max(a[i].lo, b[i].lo), std::min(a[i].hi, b[i].hi)};
  }
  return box;
}

}  // namespace ondula::reference
