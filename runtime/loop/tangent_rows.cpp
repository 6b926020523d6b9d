// Tangents of coefficients, slab by slab.
// SPDX-License-Identifier: MIT
#include "runtime/loop/tangent_rows.hpp"

namespace ondula::loop {

void tangent_rows(ir::Expr coefficient, const ir::Domain& domain, int halo, const Sensitivity& sensitivity,
                  const Perturbation& perturbation, const RowSink& put) {
  ir::Box all;
  for (int axis = 0; axis < ir::max_axes; ++axis) {
    all[static_cast<std::size_t>(axis)] =
        axis < domain.dims ? ir::Range{-halo, domain.total(axis) + halo} : ir::Range{0, 1};
  }
  const auto inner = static_cast<std::size_t>(domain.dims - 1);
  const auto count = static_cast<std::size_t>(all[inner].size());
  const ir::Range slabs = domain.dims > 1 ? all[0] : ir::Range{0, 1};
  for (std::int64_t slab = slabs.lo; slab < slabs.hi; ++slab) {
    ir::Box box = all;
    if (domain.dims > 1) box[0] = {slab, slab + 1};
    const std::vector<double> values = sensitivity.tangents(coefficient, box, perturbation);
    ir::Extents first{box[0].lo, box[1].lo, box[2].lo};
    const std::int64_t rows = static_cast<std::int64_t>(values.size() / count);
    for (std::int64_t row = 0; row < rows; ++row) {
      if (domain.dims == 3) first[1] = box[1].lo + row;
      put(first, std::span(values).subspan(static_cast<std::size_t>(row) * count, count));
    }
  }
}

}  // namespace ondula::loop
