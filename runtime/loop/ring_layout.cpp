// Rings in the order of their numbers.
// SPDX-License-Identifier: MIT
#include "runtime/loop/ring_layout.hpp"

#include <algorithm>

namespace ondula::loop {

std::vector<ir::Save> ring_saves() { return {{ring_save, ring_save, false}}; }

Layout ring_as_layout(const RingLayout& rings) {
  Layout layout;
  layout.size = rings.size;
  return layout;
}

std::int64_t ring_stride(const RingLayout& rings, std::size_t element_bytes) {
  const auto line = static_cast<std::int64_t>(128 / element_bytes);
  return (rings.size + line - 1) / line * line;
}

RingLayout ring_layout(const ir::Program& program, const ir::Domain& domain) {
  std::vector<const ir::Ring*> rings;
  for (const ir::Operation& operation : program.operations) {
    if (const auto* ring = std::get_if<ir::Ring>(&operation)) rings.push_back(ring);
  }
  std::sort(rings.begin(), rings.end(),
            [](const ir::Ring* a, const ir::Ring* b) { return a->number < b->number; });
  RingLayout result;
  for (const ir::Ring* ring : rings) {
    for (const ir::Box& box : domain.ring(program.field(ring->field), ring->outer, ring->inner)) {
      const std::int64_t count = box[0].size() * box[1].size() * box[2].size();
      if (count == 0) continue;
      result.parts.push_back({ring->number, ring->field, box, result.size});
      result.size += count;
    }
  }
  return result;
}

}  // namespace ondula::loop
