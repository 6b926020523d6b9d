// Extents and strides.
// SPDX-License-Identifier: MIT
#include "runtime/array_places.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "compiler/error.hpp"

namespace ondula {

ArrayPlaces::ArrayPlaces(const std::string& what, const ConstArrayView& view)
    : shape_(view.shape), strides_(view.strides) {
  if (std::any_of(shape_.begin(), shape_.end(), [](std::int64_t n) { return n < 0; }))
    throw UserError(fmt::format("{}: shape ({})", what, fmt::join(shape_, ", ")));
  if (!strides_.empty() && strides_.size() != shape_.size()) {
    throw UserError(fmt::format("{}: {} strides for {} axes; allowed: one for each, or none (C order)", what,
                                strides_.size(), shape_.size()));
  }
  if (strides_.empty()) {
    strides_.assign(shape_.size(), 1);
    for (std::size_t a = shape_.size(); a-- > 1;) strides_[a - 1] = strides_[a] * shape_[a];
  }
  for (const std::int64_t n : shape_) count_ *= n;
  if (count_ == 0) return;
  if (view.data == nullptr) throw UserError(fmt::format("{}: a null pointer for {} values", what, count_));
  const std::uintptr_t bytes = view.dtype == DType::float32 ? sizeof(float) : sizeof(double);
  if (reinterpret_cast<std::uintptr_t>(view.data) % bytes != 0)
    throw UserError(fmt::format("{}: address {} is no multiple of the {} bytes of a value", what,
                                fmt::ptr(view.data), bytes));
  for (std::size_t a = 0; a < shape_.size(); ++a)
    (strides_[a] < 0 ? lowest_ : highest_) += strides_[a] * (shape_[a] - 1);
}

int ArrayPlaces::run_axis() const {
  bool single = true;
  for (std::size_t a = shape_.size(); a-- > 0;) {
    if (shape_[a] == 1) continue;
    single = false;
    if (strides_[a] == 1) return static_cast<int>(a);
  }
  return single && !shape_.empty() ? 0 : -1;
}

void ArrayPlaces::require_distinct(const std::string& what) const {
  // Axes by stride: each must step over all that those before it span. Stricter than need be for lattices
  // that nobody lays arrays out in.
  std::vector<std::pair<std::int64_t, std::int64_t>> axes;
  for (std::size_t a = 0; a < shape_.size(); ++a)
    if (shape_[a] > 1) axes.emplace_back(std::abs(strides_[a]), shape_[a]);
  std::sort(axes.begin(), axes.end());
  std::int64_t span = 1;
  for (const auto& [stride, count] : axes) {
    if (stride < span)
      throw UserError(
          fmt::format("{}: shape ({}) with strides ({}): elements share places, and it is to be "
                      "written",
                      what, fmt::join(shape_, ", "), fmt::join(strides_, ", ")));
    span = stride * (count - 1) + span;
  }
}

}  // namespace ondula
