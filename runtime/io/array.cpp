// Element counts and the text of shapes.
// SPDX-License-Identifier: MIT
#include "runtime/io/array.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace ondula::io {

std::int64_t element_count(std::span<const std::int64_t> shape) {
  constexpr std::int64_t limit = std::int64_t{1} << 62;
  std::int64_t count = 1;
  bool empty = false;
  for (const std::int64_t extent : shape) {
    if (extent < 0) throw UserError(fmt::format("shape {} has a negative extent", shape_text(shape)));
    empty = empty || extent == 0;
  }
  if (empty) return 0;
  for (const std::int64_t extent : shape) {
    if (count > limit / extent)
      throw UserError(fmt::format("shape {} has more elements than a file can hold", shape_text(shape)));
    count *= extent;
  }
  return count;
}

std::string shape_text(std::span<const std::int64_t> shape) {
  if (shape.size() == 1) return fmt::format("({},)", shape[0]);
  return fmt::format("({})", fmt::join(shape, ", "));
}

}  // namespace ondula::io
