// Boxes of pieces.
// SPDX-License-Identifier: MIT
#include "runtime/loop/boxes.hpp"

#include <algorithm>

#include "compiler/error.hpp"

namespace ondula::loop {
namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

ir::Range common(const ir::Range& a, const ir::Range& b) {
  const ir::Range both{std::max(a.lo, b.lo), std::min(a.hi, b.hi)};
  return both.hi > both.lo ? both : ir::Range{both.lo, both.lo};
}

ir::Range hull(const ir::Range& a, const ir::Range& b) {
  return {std::min(a.lo, b.lo), std::max(a.hi, b.hi)};
}

}  // namespace

Boxes::Boxes(const ir::KernelSet& set, const ir::Domain& domain, std::size_t element_bytes)
    : set_(set), domain_(domain), element_bytes_(element_bytes), joint_(joint_strips(set)) {}

WideStrips Boxes::wide(const ir::Piece& piece) const {
  const bool half = field(piece.stores.front()).stagger[at(domain_.dims - 1)] != 0;
  return wide_strips(domain_, half, joint_, set_.program.apron_cells(), element_bytes_);
}

ir::Range Boxes::strip(const ir::Piece& piece, int axis, int side) const {
  return strip_range(domain_, axis, side, field(piece.stores.front()).stagger[at(axis)] != 0, joint_);
}

ir::Box Boxes::piece(const ir::Piece& piece, int side) const {
  const WideStrips strips = wide(piece);
  const int inner = domain_.dims - 1;
  ir::Box box;
  for (int axis = 0; axis < domain_.dims; ++axis) {
    ir::Range range = domain_.live(field(piece.stores.front()), axis);
    for (const ir::Store& store : piece.stores) range = hull(range, domain_.live(field(store), axis));
    if (axis == piece.region.axis) {
      const bool half = field(piece.stores.front()).stagger[at(axis)] != 0;
      const bool grown = axis == inner && strips.usable && piece.role != ir::Role::alone;
      const bool apron = piece.region.kind == ir::RegionKind::apron;
      const bool flux = field(piece.stores.front()).beyond_axis >= 0;
      ir::Range cut =
          apron ? domain_.beside(axis, side, half, set_.program.apron_cells()) : strip(piece, axis, side);
      if (grown) cut = strips.sides[at(side)];
      // A strip taken as one with that of half cells may hold the apron's first cell.
      if (apron) {
        const ir::Range own = strip(piece, axis, side);
        cut = side == 0 ? ir::Range{std::max(cut.lo, own.hi), cut.hi}
                        : ir::Range{cut.lo, std::min(cut.hi, own.lo)};
      }
      if (flux && !apron) cut = domain_.strip(field(piece.stores.front()), axis, side);
      // The grown strip holds the apron already.
      if (apron && !flux && axis == inner && strips.usable && domain_.dims > 1) cut = {cut.lo, cut.lo};
      range = common(range, cut);
    }
    box[at(axis)] = range;
  }
  return box;
}

ir::Box Boxes::core(const ir::Piece& base) const {
  const WideStrips strips = wide(base);
  const int inner = domain_.dims - 1;
  const int cells = set_.program.apron_cells();
  ir::Box box = piece(base, 0);
  for (int axis = 0; axis < inner; ++axis) {
    ir::Range& range = box[at(axis)];
    const ir::Range between = common(range, {strip(base, axis, 0).hi, strip(base, axis, 1).lo});
    for (const ir::Store& store : base.stores) {
      const bool half = field(store).stagger[at(axis)] != 0;
      const auto low = domain_.apron(axis, 0, half, cells);
      const auto high = domain_.apron(axis, 1, half, cells);
      range = common({low.hi, high.lo}, common(range, domain_.live(field(store), axis)));
    }
    // Without such rows still a place between the strips, where the rows before and after it meet.
    range.lo = std::clamp(range.lo, between.lo, between.hi);
    range.hi = strips.usable ? std::clamp(range.hi, range.lo, between.hi) : range.lo;
  }
  box[at(inner)] = common(box[at(inner)], {strips.sides[0].hi, strips.sides[1].lo});
  return box;
}

std::vector<ir::Box> Boxes::lives(const ir::Piece& piece) const {
  const int inner = domain_.dims - 1;
  const ir::Range whole = this->piece(piece, 0)[at(inner)];
  std::vector<ir::Box> boxes(1 + piece.stores.size());
  for (int axis = 0; axis < domain_.dims; ++axis) {
    ir::Range all = domain_.live(field(piece.stores.front()), axis);
    for (std::size_t s = 0; s < piece.stores.size(); ++s) {
      const ir::Range live = domain_.live(field(piece.stores[s]), axis);
      all = common(all, live);
      boxes[1 + s][at(axis)] = live;
      const bool live_piece = piece.region.kind == ir::RegionKind::live;
      if (axis == inner && live_piece && (live.lo > whole.lo + 1 || live.hi + 1 < whole.hi)) {
        throw InternalError("a row of " + piece.comment + " ends in more than one entry that does not live");
      }
    }
    boxes[0][at(axis)] = all;
  }
  return boxes;
}

}  // namespace ondula::loop
