// Halo images.
// SPDX-License-Identifier: MIT
#include "runtime/loop/halo.hpp"

#include <algorithm>

namespace ondula::loop {
namespace {

/// Images across an outer axis, row by row: entries and what they repeat never meet.
template <class Real>
void copy_rows(Real* base, std::int64_t stride, std::int64_t count, const std::vector<ir::Repeat>& images) {
  for (const ir::Repeat& image : images) {
    const Real* const from = base + image.from * stride;
    Real* const to = base + image.to * stride;
    if (image.sign < 0) {
      for (std::int64_t i = 0; i < count; ++i) to[i] = -from[i];
    } else {
      std::copy_n(from, count, to);
    }
  }
}

}  // namespace

HaloFiller::HaloFiller(const ir::Domain& domain, const ir::Field& field, bool first_order, int halo)
    : domain_(domain), halo_(halo) {
  for (int axis = 0; axis < domain.dims; ++axis) {
    std::vector<ir::Repeat> kept;
    for (const ir::Repeat& image : ir::field_images(domain, field, axis, first_order, halo)) {
      if (image.sign != 0) kept.push_back(image);
    }
    images_.push_back(std::move(kept));
  }
}

bool HaloFiller::empty() const {
  for (const auto& images : images_) {
    if (!images.empty()) return false;
  }
  return true;
}

template <class Real>
void HaloFiller::fill(Real* data, const Layout& layout, device::Device& device) const {
  Real* const origin = data + layout.origin;
  for (std::size_t axis = 0; axis < images_.size(); ++axis) {
    if (images_[axis].empty()) continue;
    // The other axes: those already filled with their halo, those to come without.
    std::vector<std::size_t> others;
    std::vector<ir::Range> ranges;
    for (std::size_t a = 0; a < images_.size(); ++a) {
      if (a == axis) continue;
      const std::int64_t margin = a < axis && a + 1 < images_.size() ? halo_ : 0;
      others.push_back(a);
      ranges.push_back({-margin, domain_.total(static_cast<int>(a)) + margin});
    }
    others.resize(2, ir::max_axes - 1);
    ranges.resize(2, {0, 1});
    const bool rows = layout.stride[others[1]] == 1 && others[1] < images_.size();
    const auto line = [&](std::int64_t first) {
      if (rows) {
        copy_rows(origin + first * layout.stride[others[0]] + ranges[1].lo, layout.stride[axis],
                  ranges[1].size(), images_[axis]);
        return;
      }
      for (std::int64_t second = ranges[1].lo; second < ranges[1].hi; ++second) {
        Real* const base = origin + first * layout.stride[others[0]] + second * layout.stride[others[1]];
        for (const ir::Repeat& image : images_[axis]) {
          const Real value = base[image.from * layout.stride[axis]];
          base[image.to * layout.stride[axis]] = image.sign < 0 ? -value : value;
        }
      }
    };
    if (images_.size() == 1) {
      line(0);
      continue;
    }
    device.parallel(ranges[0].size(), [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) line(ranges[0].lo + i);
    });
  }
}

template void HaloFiller::fill(float*, const Layout&, device::Device&) const;
template void HaloFiller::fill(double*, const Layout&, device::Device&) const;

}  // namespace ondula::loop
