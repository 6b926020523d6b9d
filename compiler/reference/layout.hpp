// Full-grid arrays with a halo: extents, strides, and loops over the rows of a box.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "compiler/ir/domain.hpp"
#include "compiler/ir/program.hpp"

namespace ondula::reference {

inline std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

/// C-ordered arrays over the padded grid and `halo` more entries on each side of every used axis. Indices
/// count from the grid's first entry, so halo indices are negative or at least `total`.
struct Layout {
  int dims = 0;
  ir::Extents total{1, 1, 1};
  ir::Extents halo{};
  ir::Extents stride{};
  std::int64_t size = 0;

  /// The halo holds what nested derivatives reach, and one entry more for averages at half cells.
  Layout(const ir::Program& program, const ir::Domain& domain);

  std::int64_t index(const ir::Extents& i) const;
  /// The padded grid without the halo.
  ir::Box grid() const;
  /// The whole array.
  ir::Box everything() const;
};

/// How far `e` reads along `axis`, in entries: the radii of nested derivatives add up.
int reach(ir::Expr e, int axis, int radius);

/// The common part of two boxes.
ir::Box intersection(const ir::Box& a, const ir::Box& b);

/// Calls f(first, count, i) for each row of `box`: `first` the flat index of its first entry, `count`
/// contiguous entries along the last used axis, `i` the index of the first entry.
template <class F>
void for_rows(const Layout& layout, const ir::Box& box, const F& f) {
  const auto row_axis = at(layout.dims - 1);
  ir::Box outer = box;
  outer[row_axis].hi = outer[row_axis].lo + 1;
  const std::int64_t count = box[row_axis].size();
  if (count == 0) return;
  ir::Extents i{};
  for (i[0] = outer[0].lo; i[0] < outer[0].hi; ++i[0]) {
    for (i[1] = outer[1].lo; i[1] < outer[1].hi; ++i[1]) {
      for (i[2] = outer[2].lo; i[2] < outer[2].hi; ++i[2]) f(layout.index(i), count, i);
    }
  }
}

}  // namespace ondula::reference
