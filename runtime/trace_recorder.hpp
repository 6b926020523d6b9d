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

}  // namespace ondula
