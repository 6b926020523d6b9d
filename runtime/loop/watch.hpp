// What a run of many steps tells as it goes.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

namespace ondula::loop {

/// Called from within Engine's steps(), watch_magnitude() and finish(), each in the order of the steps. A
/// device that is not waited for tells late: what is missing comes with finish() at the latest. What a call
/// throws passes through.
struct Watch {
  std::size_t receivers = 0;  ///< how many there are, of all shots
  /// The samples of all receivers, shot by shot, taken before step `step`'s update. Unset: nothing is
  /// recorded.
  std::function<void(std::int64_t step, std::span<const double> samples)> samples;
  /// Of each shot the largest magnitude over all state fields when `step` steps were done; NaN if any value
  /// is not finite.
  std::function<void(std::int64_t step, std::span<const double> magnitudes)> magnitude;
};

}  // namespace ondula::loop
