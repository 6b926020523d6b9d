// How the rings that are kept of a step stand in one buffer.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "compiler/ir/adjoint.hpp"
#include "compiler/ir/domain.hpp"
#include "compiler/ir/program.hpp"
#include "runtime/loop/layout.hpp"

namespace ondula::loop {

/// The name under which a history holds rings.
inline constexpr const char* ring_save = "ring";

/// One box of one field: its entries in C order from element `first` of the ring on.
struct RingPart {
  int number = 0;     ///< of the ir::Ring it belongs to
  std::string field;  ///< of the program that keeps or takes it
  ir::Box box;        ///< padded indices
  std::int64_t first = 0;
};

/// All rings of a step, one after the other.
struct RingLayout {
  std::vector<RingPart> parts;
  std::int64_t size = 0;  ///< elements
};

/// What a history of rings is made with: one save, an array without axes, copies of shots on whole lines of
/// 128 bytes.
std::vector<ir::Save> ring_saves();
Layout ring_as_layout(const RingLayout& rings);
std::int64_t ring_stride(const RingLayout& rings, std::size_t element_bytes);

/// The same whether a forward or a backward program is given: by the rings' numbers.
RingLayout ring_layout(const ir::Program& program, const ir::Domain& domain);

/// f(index of the first entry, count, element of the ring) for each row of a part along the domain's last
/// axis.
template <class F>
void each_ring_row(const RingPart& part, int dims, const F& f) {
  const auto inner = static_cast<std::size_t>(dims - 1);
  ir::Box rows = part.box;
  const std::int64_t count = rows[inner].size();
  if (count == 0) return;
  rows[inner].hi = rows[inner].lo + 1;
  std::int64_t element = part.first;
  ir::Extents i{};
  for (i[0] = rows[0].lo; i[0] < rows[0].hi; ++i[0]) {
    for (i[1] = rows[1].lo; i[1] < rows[1].hi; ++i[1]) {
      for (i[2] = rows[2].lo; i[2] < rows[2].hi; ++i[2]) {
        f(i, count, element);
        element += count;
      }
    }
  }
}

/// Copies a part from its field's array into what is kept, and back.
template <class Real>
void keep_part(const RingPart& part, int dims, const Real* data, const Layout& layout, Real* kept) {
  each_ring_row(part, dims, [&](const ir::Extents& i, std::int64_t count, std::int64_t first) {
    std::copy_n(data + layout.at(i), count, kept + first);
  });
}
template <class Real>
void take_part(const RingPart& part, int dims, const Real* kept, const Layout& layout, Real* data) {
  each_ring_row(part, dims, [&](const ir::Extents& i, std::int64_t count, std::int64_t first) {
    std::copy_n(kept + first, count, data + layout.at(i));
  });
}

}  // namespace ondula::loop
