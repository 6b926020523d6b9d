// Extents and strides.
// SPDX-License-Identifier: MIT
#include "runtime/array_places.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <utility>

#include "compiler/error.hpp"

namespace ondula {
namespace {

/// Numbers of elements whose bytes can be counted: what passes that is nobody's array.
class Counted {
 public:
  void multiply(std::int64_t& value, std::int64_t by) {
    fits_ = fits_ && !__builtin_mul_overflow(value, by, &value) && within(value);
  }
  void add(std::int64_t& value, std::int64_t more) {
    fits_ = fits_ && !__builtin_add_overflow(value, more, &value) && within(value);
  }
  bool fits() const { return fits_; }

 private:
  static bool within(std::int64_t value) {
    constexpr std::int64_t most =
        std::numeric_limits<std::int64_t>::max() / static_cast<std::int64_t>(sizeof(double)) / 2;
    return value <= most && value >= -most;
  }
  bool fits_ = true;
};

}  // namespace

ArrayPlaces::ArrayPlaces(const std::string& what, const ConstArrayView& view)
    : shape_(view.shape), strides_(view.strides) {
  if (std::any_of(shape_.begin(), shape_.end(), [](std::int64_t n) { return n < 0; }))
    throw UserError(fmt::format("{}: shape ({})", what, fmt::join(shape_, ", ")));
  if (!strides_.empty() && strides_.size() != shape_.size()) {
    throw UserError(fmt::format("{}: {} strides for {} axes; allowed: one for each, or none (C order)", what,
                                strides_.size(), shape_.size()));
  }
  Counted counted;
  count_ = std::find(shape_.begin(), shape_.end(), 0) == shape_.end() ? 1 : 0;
  if (count_ == 0) return;
  for (const std::int64_t n : shape_) counted.multiply(count_, n);
  if (strides_.empty() && counted.fits()) {
    strides_.assign(shape_.size(), 1);
    for (std::size_t a = shape_.size(); a-- > 1;) strides_[a - 1] = strides_[a] * shape_[a];
  }
  for (std::size_t a = 0; a < strides_.size(); ++a) {
    std::int64_t span = strides_[a];
    counted.multiply(span, shape_[a] - 1);
    counted.add(strides_[a] < 0 ? lowest_ : highest_, span);
  }
  if (!counted.fits()) {
    throw UserError(fmt::format("{}: shape ({}) with strides ({}) is larger than any memory", what,
                                fmt::join(shape_, ", "), fmt::join(strides_, ", ")));
  }
  if (view.data == nullptr) throw UserError(fmt::format("{}: a null pointer for {} values", what, count_));
  const std::uintptr_t bytes = view.dtype == DType::float32 ? sizeof(float) : sizeof(double);
  if (reinterpret_cast<std::uintptr_t>(view.data) % bytes != 0) {
    throw UserError(fmt::format("{}: address {} is no multiple of the {} bytes of a value", what,
                                fmt::ptr(view.data), bytes));
  }
}

int ArrayPlaces::run_axis() const {
  bool single = true;
  for (std::size_t a = shape_.size(); a-- > 0;) {
    if (shape_[a] == 1) continue;
    single = false;
    if (strides_[a] == 1) return static_cast<int>(a);
  }
  return single ? 0 : -1;
}

void ArrayPlaces::require_distinct(const std::string& what) const {
  // Axes by stride: each must step over all that those before it span. Stricter than need be for lattices
  // that nobody lays arrays out in.
  if (count_ == 0) return;
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
