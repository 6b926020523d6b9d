// Choosing by points, memory and the number of shots.
// SPDX-License-Identifier: MIT
#include "runtime/shot_batch.hpp"

#include <algorithm>

namespace ondula {
namespace {

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// Points a launch should have: so many times what the device's threads hold at once.
constexpr std::int64_t threads_of_multiprocessor = 2048;
constexpr std::int64_t waves = 16;

std::int64_t evened(std::int64_t shots, std::int64_t batch) {
  return ceil_div(shots, ceil_div(shots, batch));
}

}  // namespace

std::int64_t filling_batch(std::int64_t points, int multiprocessors) {
  const std::int64_t wanted = waves * threads_of_multiprocessor * multiprocessors;
  return std::max<std::int64_t>(ceil_div(wanted, std::max<std::int64_t>(points, 1)), 1);
}

std::int64_t shots_at_once(const BatchQuestion& q) {
  std::int64_t batch = std::min(q.shots, q.most);
  batch = std::min(batch, q.asked > 0 ? q.asked : filling_batch(q.points, q.multiprocessors));
  if (batch <= 1) return 1;
  const auto fitting = [&](std::int64_t count) { return fits_with_margin(q.bytes(count), q.room); };
  if (fitting(evened(q.shots, batch))) return evened(q.shots, batch);
  // Bytes grow with the batch: the largest that fits lies between one that does, or 1, and one that does not.
  std::int64_t fits = 1, beyond = batch;
  while (beyond - fits > 1) {
    const std::int64_t middle = fits + (beyond - fits) / 2;
    (fitting(middle) ? fits : beyond) = middle;
  }
  return evened(q.shots, fits);
}

loop::PointCounts points_at_once(std::span<const loop::PointCounts> shots, std::int64_t batch) {
  loop::PointCounts most, sum;
  for (std::size_t i = 0; i < shots.size(); ++i) {
    if (i % static_cast<std::size_t>(batch) == 0) sum = {};
    sum.sources += shots[i].sources;
    sum.source_taps += shots[i].source_taps;
    sum.rows += shots[i].rows;
    sum.row_taps += shots[i].row_taps;
    most.sources = std::max(most.sources, sum.sources);
    most.source_taps = std::max(most.source_taps, sum.source_taps);
    most.rows = std::max(most.rows, sum.rows);
    most.row_taps = std::max(most.row_taps, sum.row_taps);
  }
  return most;
}

}  // namespace ondula
