// How many shots of a call a CUDA device runs at once.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "runtime/device/device.hpp"
#include "runtime/loop/cuda_points.hpp"

namespace ondula {

/// What the choice depends on.
struct BatchQuestion {
  std::int64_t shots = 1;   ///< of the call
  std::int64_t asked = 0;   ///< PropagatorOptions::shot_batch
  std::int64_t most = 1;    ///< that one launch can count
  std::int64_t points = 1;  ///< of one shot's padded grid
  int multiprocessors = 0;  ///< of the device; 0: unknown, then a choice of our own is 1
  std::size_t room = 0;     ///< bytes the device may hold
  std::function<std::size_t(std::int64_t)> bytes;  ///< of the device, with so many shots at once
};

/// How many shots of so many points make a launch long beside its start.
std::int64_t filling_batch(std::int64_t points, int multiprocessors);

/// At least 1 and no more than asked for: without a number as many as make a launch long beside its start,
/// that fit in the device's memory; then no more than give the same number of batches, so that they are of
/// about one size. A grid that fills the device by itself gets 1.
std::int64_t shots_at_once(const BatchQuestion& question);

/// Whether so many bytes fit with a little to spare: points are counted before any is made.
inline bool fits_with_margin(std::size_t bytes, std::size_t room) {
  return bytes <= room && bytes / 32 <= room - bytes;
}

/// Calls make(batch), and where memory ends again with half as many, down to 1; returns with how many it
/// ended.
template <class Make>
std::int64_t with_room(std::int64_t batch, const Make& make) {
  for (;; batch = (batch + 1) / 2) {
    try {
      make(batch);
      return batch;
    } catch (const device::NoRoom&) {
      if (batch == 1) throw;
    }
  }
}

/// The most of each kind of point that `batch` shots in a row have, where batches begin at 0, batch, ...
loop::PointCounts points_at_once(std::span<const loop::PointCounts> shots, std::int64_t batch);

}  // namespace ondula
