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

BatchRecorder::BatchRecorder(std::span<const Shot> shots, std::int64_t samples,
                             std::span<const std::size_t> widths) {
  for (std::size_t s = 0; s < shots.size(); ++s) {
    recorders_.emplace_back(shots[s], samples);
    first_.push_back(first_.back() + (widths.empty() ? shots[s].receivers.size() : widths[s]));
  }
}

void BatchRecorder::put(std::int64_t n, std::span<const double> values) {
  for (std::size_t s = 0; s < recorders_.size(); ++s) recorders_[s].put(n, of(s, values));
}

Records BatchRecorder::take() {
  Records records;
  for (TraceRecorder& recorder : recorders_) records.push_back(recorder.take());
  return records;
}

}  // namespace ondula
