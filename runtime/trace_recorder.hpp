// The records of a shot while they are taken.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "runtime/types.hpp"

namespace ondula {

/// A receiver's trace: its number within its field's record, in the order a shot lists its receivers.
struct TracePlace {
  std::string field;
  std::int64_t row = 0;
};
std::vector<TracePlace> trace_places(const Shot& shot);

/// Takes one sample of every receiver at a time.
class TraceRecorder {
 public:
  /// Records of `samples` samples each, zero at first.
  TraceRecorder(const Shot& shot, std::int64_t samples);
  /// Sample n of the receivers, in the shot's order; what follows them is not looked at.
  void put(std::int64_t n, std::span<const double> values);
  std::map<std::string, Traces> take() { return std::move(records_); }

 private:
  std::map<std::string, Traces> records_;
  std::vector<double*> traces_;  // of each receiver, in records_
};

/// The same for shots that run at once, whose values come shot by shot.
class BatchRecorder {
 public:
  /// `widths`: how many values of each shot come, its receivers' first; empty: no more than these.
  BatchRecorder(std::span<const Shot> shots, std::int64_t samples, std::span<const std::size_t> widths = {});
  /// Sample n of all shots.
  void put(std::int64_t n, std::span<const double> values);
  /// Values that come at a time, of all shots.
  std::size_t width() const { return first_.back(); }
  /// Those of one shot among them.
  std::span<const double> of(std::size_t shot, std::span<const double> values) const {
    return values.subspan(first_[shot], first_[shot + 1] - first_[shot]);
  }
  Records take();

 private:
  std::vector<TraceRecorder> recorders_;
  std::vector<std::size_t> first_{0};  // of each shot's values, and their end
};

}  // namespace ondula
