// What stands beyond the faces: the entry, and its sign, that each halo entry repeats.
// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "compiler/ir/images.hpp"
#include "compiler/reference/layout.hpp"

namespace ondula::reference {

using ir::Repeat;

/// Applies `images` along `axis` to every row of `array`, axes before `axis` over their halos too: called for
/// axis 0, 1, 2 in turn it fills edges and corners.
template <class Real>
void fill(const Layout& layout, int axis, const std::vector<Repeat>& images, std::vector<Real>& array) {
  ir::Box box = layout.grid();
  for (std::size_t a = 0; a < at(axis); ++a) box[a] = layout.everything()[a];
  for (const Repeat& image : images) {
    box[at(axis)] = {image.to, image.to + 1};
    const std::int64_t shift = (image.from - image.to) * layout.stride[at(axis)];
    for_rows(layout, box, [&](std::int64_t first, std::int64_t count, const ir::Extents&) {
      for (std::int64_t i = first; i < first + count; ++i) {
        array[at(i)] = image.sign == 0  ? Real(0)
                       : image.sign < 0 ? -array[at(i + shift)]
                                        : array[at(i + shift)];
      }
    });
  }
}

}  // namespace ondula::reference
