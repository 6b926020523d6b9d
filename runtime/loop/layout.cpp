// Strides and origins.
// SPDX-License-Identifier: MIT
#include "runtime/loop/layout.hpp"

#include <algorithm>

#include <array>

namespace ondula::loop {
namespace {

constexpr std::int64_t line_bytes = 64;

std::int64_t rounded(std::int64_t n, std::int64_t unit) { return (n + unit - 1) / unit * unit; }

struct Axis {
  std::int64_t first = 0;  // lowest index that exists
  std::int64_t count = 1;
};

/// Rows of whole lines, an odd number of them where there are several: rows that differ by a power of two
/// meet in the same cache sets (a 256^3 grid ran at half speed).
Layout arranged(const std::array<Axis, ir::max_axes>& axes, int dims, std::int64_t lead, std::int64_t unit) {
  const auto inner = static_cast<std::size_t>(dims - 1);
  std::int64_t pitch = rounded(lead + axes[inner].count, unit);
  if (dims > 1 && pitch > 2 * unit && (pitch / unit) % 2 == 0) pitch += unit;
  Layout layout;
  layout.stride[inner] = 1;
  std::int64_t stride = pitch;
  std::int64_t origin = lead;
  for (int a = dims - 2; a >= 0; --a) {
    const auto axis = static_cast<std::size_t>(a);
    layout.stride[axis] = stride;
    origin -= axes[axis].first * stride;
    stride *= axes[axis].count;
  }
  layout.origin = origin - axes[inner].first;
  // The last row's right halo runs into what would be the next row's lead.
  layout.size = stride + lead + unit;
  return layout;
}

}  // namespace

Layout full_layout(const ir::Domain& domain, int halo, std::size_t element_bytes) {
  const std::int64_t unit = line_bytes / static_cast<std::int64_t>(element_bytes);
  std::array<Axis, ir::max_axes> axes;
  for (int a = 0; a < domain.dims; ++a) {
    const bool inner = a == domain.dims - 1;
    const std::int64_t margin = inner ? 0 : halo;
    axes[static_cast<std::size_t>(a)] = {-margin, domain.total(a) + 2 * margin};
  }
  // One gap of 2*halo between rows serves as the right halo of one and the left halo of the next.
  return arranged(axes, domain.dims, rounded(2 * halo, unit), unit);
}

Layout strip_layout(const ir::Domain& domain, int axis, int side, const ir::Range& range, int reach,
                    int apron, std::size_t element_bytes) {
  const std::int64_t unit = line_bytes / static_cast<std::int64_t>(element_bytes);
  std::array<Axis, ir::max_axes> axes;
  for (int a = 0; a < domain.dims; ++a) axes[static_cast<std::size_t>(a)] = {0, domain.total(a)};
  const std::int64_t inwards = reach + std::max(reach, apron);
  const std::int64_t before = side == 0 ? reach : inwards;
  const bool inner = axis == domain.dims - 1;
  if (inner) {
    // The gap between rows serves both neighbours, since both read zeros there.
    axes[static_cast<std::size_t>(axis)] = {range.lo, range.size()};
    return arranged(axes, domain.dims, rounded(inwards, unit), unit);
  }
  axes[static_cast<std::size_t>(axis)] = {range.lo - before, range.size() + reach + inwards};
  return arranged(axes, domain.dims, 0, unit);
}

bool joint_strips(const ir::KernelSet& set) {
  for (const ir::Kernel& kernel : set.kernels) {
    for (const ir::Piece& piece : kernel.pieces) {
      if (piece.mixed) return true;
    }
  }
  return false;
}

ir::Range strip_range(const ir::Domain& domain, int axis, int side, bool half, bool joint) {
  if (!joint) return domain.strip(axis, side, half);
  const ir::Range nodes = domain.strip(axis, side, false);
  const ir::Range halves = domain.strip(axis, side, true);
  // A face without a layer: where the nodes end.
  if (nodes.size() == 0) return nodes;
  return {std::min(nodes.lo, halves.lo), std::max(nodes.hi, halves.hi)};
}

WideStrips wide_strips(const ir::Domain& domain, bool half, bool joint, int apron,
                       std::size_t element_bytes) {
  const int axis = domain.dims - 1;
  const std::int64_t unit = line_bytes / static_cast<std::int64_t>(element_bytes);
  const ir::Range lo = strip_range(domain, axis, 0, half, joint);
  const ir::Range hi = strip_range(domain, axis, 1, half, joint);
  WideStrips wide;
  wide.sides[0] = {lo.lo, lo.size() == 0 ? lo.lo : rounded(lo.hi + apron, unit)};
  wide.sides[1] = {hi.size() == 0 ? hi.hi : (hi.lo - apron) / unit * unit, hi.hi};
  wide.usable = domain.dims > 1 && wide.sides[0].hi <= wide.sides[1].lo && hi.lo - apron >= lo.hi;
  return wide;
}

}  // namespace ondula::loop
