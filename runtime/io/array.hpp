// A C-ordered array of float64 values as files hand it over, and strided views made contiguous.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "compiler/error.hpp"

namespace ondula::io {

/// An array in C order (last axis fastest): data.size() is the product of the shape; an empty shape is one
/// value.
struct Array {
  std::vector<std::int64_t> shape;
  std::vector<double> data;
};

/// The number of elements of a shape. Throws UserError for a negative extent or a product beyond 2^62.
std::int64_t element_count(std::span<const std::int64_t> shape);

/// A shape as people write it: "(134, 384)", "(7,)", "()".
std::string shape_text(std::span<const std::int64_t> shape);

/// A strided view of a caller's memory: `strides` count elements, not bytes, and may be negative or zero.
/// `first` is the element of index (0, ..., 0), wherever it lies in memory.
template <class T>
struct StridedView {
  const T* first = nullptr;
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> strides;
};

/// The contiguous copy of a strided view: Fortran order, a slice of any step, a reversed axis all give the
/// array that indexing gives. Throws UserError where shape and strides differ in rank.
template <class T>
Array contiguous(const StridedView<T>& view) {
  if (view.shape.size() != view.strides.size())
    throw UserError("a strided view has " + std::to_string(view.shape.size()) + " extents but " +
                    std::to_string(view.strides.size()) + " strides; it needs one stride per axis");
  Array out{view.shape, {}};
  const std::int64_t count = element_count(view.shape);
  out.data.resize(static_cast<std::size_t>(count));
  std::vector<std::int64_t> index(view.shape.size(), 0);
  std::int64_t offset = 0;
  for (std::int64_t k = 0; k < count; ++k) {
    out.data[static_cast<std::size_t>(k)] = static_cast<double>(view.first[offset]);
    for (std::size_t axis = index.size(); axis-- > 0;) {
      offset += view.strides[axis];
      if (++index[axis] < view.shape[axis]) break;
      offset -= view.strides[axis] * view.shape[axis];
      index[axis] = 0;
    }
  }
  return out;
}

}  // namespace ondula::io
