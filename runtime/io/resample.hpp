// Bringing a plane of numbers to the pixels of a picture.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

namespace ondula::io {

/// A plane of numbers, rows of columns, each at the middle of its cell.
struct Plane {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::vector<double> values;
};

/// How a pixel's value follows from the cells. `smooth`: linear between cell middles, a triangular average
/// where a pixel spans several cells. `cells`: the average over the pixel's area, so that single cells stay
/// visible.
enum class Resampling { smooth, cells };

/// The plane at height x width pixels that span the same area. A pixel that a NaN or an infinity touches is
/// NaN.
Plane resample(const Plane& plane, std::int64_t height, std::int64_t width, Resampling how);

}  // namespace ondula::io
