// Image rules of fields and parameters, followed until they end inside the grid.
// SPDX-License-Identifier: MIT
#include "compiler/ir/images.hpp"

#include <algorithm>

#include "compiler/error.hpp"

namespace ondula::ir {
namespace {

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

/// Entry i sits at i + half/2. Mirrored about the plane at `plane`, it is entry 2 plane - i - half.
struct Mirror {
  std::int64_t plane;
  int half;
  std::int64_t operator()(std::int64_t i) const { return 2 * plane - i - half; }
};

std::int64_t wrapped(std::int64_t i, std::int64_t count) { return ((i % count) + count) % count; }

Repeat field_image(std::int64_t to, std::int64_t last, std::int64_t total, int half,
                   const std::array<Image, 2>& images) {
  Repeat repeat{to, to, 1};
  while (repeat.from < 0 || repeat.from > last) {
    const int side = repeat.from < 0 ? 0 : 1;
    const Image& image = images[at(side)];
    if (image.kind == ImageKind::zero) return {to, 0, 0};
    if (image.kind == ImageKind::wrap) {
      repeat.from = wrapped(repeat.from, total);
      continue;
    }
    const std::int64_t out = image.kind == ImageKind::beyond ? 1 : 0;
    const Mirror mirror{side == 0 ? -out : total - 1 + out, half};
    const std::int64_t from = mirror(repeat.from);
    if (from == repeat.from) return {to, 0, 0};  // on the plane beyond the grid itself, where the field is 0
    repeat.from = from;
    repeat.sign *= image.sign;
  }
  return repeat;
}

}  // namespace

std::vector<Repeat> field_images(const Domain& domain, const Field& field, int axis, bool first_order,
                                 std::int64_t halo) {
  const std::int64_t total = domain.total(axis);
  const int half = field.stagger[at(axis)];
  const bool periodic = domain.faces[at(axis)][0] == FaceKind::periodic;
  const std::int64_t last = half != 0 && !periodic ? total - 2 : total - 1;
  const std::array<Image, 2> images = {domain.image(field, axis, 0, first_order),
                                       domain.image(field, axis, 1, first_order)};
  for (const Image& image : images) {
    if (image.kind == ImageKind::beyond && half != 0) {
      throw InternalError("field " + field.name + ": no image of half cells about a plane beyond the grid");
    }
  }
  std::vector<Repeat> result;
  for (std::int64_t i = -halo; i < total + halo; ++i) {
    if (i < 0 || i > last) result.push_back(field_image(i, last, total, half, images));
  }
  return result;
}

std::int64_t parameter_node(const Domain& domain, int axis, std::int64_t i) {
  const std::int64_t total = domain.total(axis);
  while (i < 0 || i >= total) {
    const int side = i < 0 ? 0 : 1;
    const std::int64_t edge = side == 0 ? 0 : total - 1;
    switch (domain.faces[at(axis)][at(side)]) {
      case FaceKind::periodic:
        i = wrapped(i, total);
        break;
      case FaceKind::free_surface:
      case FaceKind::antisymmetric:
        i = Mirror{edge, 0}(i);
        break;
      case FaceKind::rigid: {
        // Only scalars read parameters out there, and they are odd about the plane beyond the grid.
        const std::int64_t plane = side == 0 ? -1 : total;
        i = i == plane ? edge : Mirror{plane, 0}(i);
        break;
      }
      case FaceKind::absorbing:
        i = edge;
        break;
    }
  }
  return i;
}

std::vector<Repeat> parameter_images(const Domain& domain, int axis, std::int64_t halo) {
  const std::int64_t total = domain.total(axis);
  std::vector<Repeat> result;
  for (std::int64_t i = -halo; i < total + halo; ++i) {
    if (i < 0 || i >= total) result.push_back({i, parameter_node(domain, axis, i), 1});
  }
  return result;
}

}  // namespace ondula::ir
