// Records by field, traces by receiver.
// SPDX-License-Identifier: MIT
#include "runtime/trace_recorder.hpp"

namespace ondula {

std::vector<TracePlace> trace_places(const Shot& shot) {
  std::vector<TracePlace> places;
  std::map<std::string, std::int64_t> rows;
  for (const Receiver& receiver : shot.receivers) places.push_back({receiver.field, rows[receiver.field]++});
  return places;
}

TraceRecorder::TraceRecorder(const Shot& shot, std::int64_t samples) {
  const std::vector<TracePlace> places = trace_places(shot);
  for (const TracePlace& place : places) records_[place.field].receivers += 1;
  for (auto& [field, traces] : records_) {
    traces.samples = samples;
    traces.data.assign(static_cast<std::size_t>(traces.receivers * samples), 0.0);
  }
  for (const TracePlace& place : places)
    traces_.push_back(records_[place.field].data.data() + place.row * samples);
}

void TraceRecorder::put(std::int64_t n, std::span<const double> values) {
  for (std::size_t r = 0; r < traces_.size(); ++r) traces_[r][n] = values[r];
}

}  // namespace ondula
