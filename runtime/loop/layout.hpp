// How arrays lie in memory on the host: padded rows, halos, and strips of the absorbing layers.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "compiler/ir/domain.hpp"
#include "compiler/ir/kernel.hpp"

namespace ondula::loop {

/// One array: element (i0, i1, i2) of the padded domain stands at origin + sum i_a * stride_a. Indices may
/// run `halo` beyond the covered range on every used axis. Row starts fall on 64 bytes; strides avoid powers
/// of two.
struct Layout {
  ir::Extents stride{};
  std::int64_t origin = 0;  ///< may be negative for a strip far from index 0
  std::int64_t size = 0;    ///< elements
  std::int64_t at(const ir::Extents& index) const {
    return origin + index[0] * stride[0] + index[1] * stride[1] + index[2] * stride[2];
  }
};

/// Fields and coefficients: the whole padded domain with `halo` cells around each used axis.
Layout full_layout(const ir::Domain& domain, int halo, std::size_t element_bytes);

/// A memory variable of `axis`, `side`: `range` along that axis with zero halos of `reach` cells outwards and
/// as many more than an apron has inwards (its cells read that far; at least 2*reach), the full extent of the
/// other axes without a halo.
Layout strip_layout(const ir::Domain& domain, int axis, int side, const ir::Range& range, int reach,
                    int apron, std::size_t element_bytes);

/// Some piece's stores live half a cell apart (see Piece::mixed): then the strips of nodes and of half cells
/// are taken as one, for every array and piece.
bool joint_strips(const ir::KernelSet& set);

/// The strip of `axis` on one side for nodes or half cells, or (`joint`) the smallest range that holds both.
ir::Range strip_range(const ir::Domain& domain, int axis, int side, bool half, bool joint);

/// A strip of the innermost axis with its apron, grown inwards to whole vectors of 64 bytes, so that the row
/// between the two sides starts and ends on vectors. Beyond strip and apron all it adds is zero. Empty where
/// the sides would meet, or for a face without a layer.
struct WideStrips {
  bool usable = false;
  std::array<ir::Range, 2> sides;
};
WideStrips wide_strips(const ir::Domain& domain, bool half, bool joint, int apron, std::size_t element_bytes);

}  // namespace ondula::loop
