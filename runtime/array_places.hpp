// Where the elements of a caller's array stand.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "runtime/array_view.hpp"

namespace ondula {

/// The places of a view's elements, in elements from its `data`.
class ArrayPlaces {
 public:
  /// Throws UserError, naming `what`, for a null pointer, a negative extent, more than memory can hold,
  /// strides for another number of axes, or a pointer that no element of its type can stand at.
  ArrayPlaces(const std::string& what, const ConstArrayView& view);

  std::int64_t count() const { return count_; }
  /// The first and the last place that holds an element; of an array without elements 0.
  std::int64_t lowest() const { return lowest_; }
  std::int64_t highest() const { return highest_; }

  /// f(number, place) for every element, numbered in C order.
  template <class F>
  void each(const F& f) const {
    std::vector<std::int64_t> index(shape_.size(), 0);
    std::int64_t place = 0;
    for (std::int64_t number = 0; number < count_; ++number) {
      f(number, place);
      for (std::size_t a = shape_.size(); a-- > 0;) {
        if (shape_[a] == 1) continue;  // whatever its stride
        place += strides_[a];
        if (++index[a] < shape_[a]) break;
        place -= strides_[a] * shape_[a];
        index[a] = 0;
      }
    }
  }

  /// The axis along which elements follow each other: the last with stride 1, or where each has one element
  /// 0. -1: there is none.
  int run_axis() const;
  /// Throws UserError where two elements share a place.
  void require_distinct(const std::string& what) const;
  const std::vector<std::int64_t>& shape() const { return shape_; }
  const std::vector<std::int64_t>& strides() const { return strides_; }

 private:
  std::vector<std::int64_t> shape_, strides_;
  std::int64_t count_ = 1, lowest_ = 0, highest_ = 0;
};

}  // namespace ondula
