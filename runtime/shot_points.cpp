// Sources and receivers of a shot.
// SPDX-License-Identifier: MIT
#include "runtime/shot_points.hpp"

#include <fmt/format.h>

#include <utility>

#include "runtime/receivers.hpp"

namespace ondula {
ShotCounts counts_of(const ShotPoints& points) {
  ShotCounts counts;
  const auto feed = [&](const std::string& term, const std::vector<ir::Tap>& taps) {
    auto& [sources, all] = counts.fed[term];
    sources += 1;
    all += taps.size();
  };
  counts.points.sources = points.sources.size();
  for (const ir::PointSource& source : points.sources) {
    counts.points.source_taps += source.taps.size();
    feed(source.source, source.taps);
  }
  for (const PointSlopes& slope : points.source_slopes) {
    for (const ir::FieldTaps& part : slope.ratio.parts) feed(part.field, part.taps);
  }
  const auto sample = [](const std::vector<ir::FieldTaps>& parts, std::size_t& rows, std::size_t& taps) {
    rows += parts.size();
    for (const ir::FieldTaps& part : parts) taps += part.taps.size();
  };
  for (const ir::PointReceiver& receiver : points.receivers)
    sample(receiver.parts, counts.points.rows, counts.points.row_taps);
  for (const PointSlopes& slope : points.receiver_slopes)
    sample(slope.ratio.parts, counts.slope_rows, counts.slope_taps);
  return counts;
}

std::string source_name(std::size_t index, std::int64_t shot) {
  return fmt::format("source {} of shot {}", index, shot);
}

std::string receiver_name(std::size_t index, std::int64_t shot) {
  return fmt::format("receiver {} of shot {}", index, shot);
}

ShotPoints shot_points(const ir::Program& program, const ir::Domain& domain, const Grid& grid,
                       const loop::Models& models, const Sampling& sampling, const Shot& shot,
                       std::int64_t number, bool slopes) {
  PointTaps points(program, domain, models, slopes);
  SourceTaps sources(program, domain, grid, sampling, points);
  ReceiverTaps receivers(program, grid, points);
  ShotPoints result;
  result.receivers.reserve(shot.receivers.size());
  for (std::size_t i = 0; i < shot.sources.size(); ++i) {
    std::size_t part = result.sources.size();
    sources.add(shot.sources[i], source_name(i, number), result.sources,
                slopes ? &result.source_slopes : nullptr);
    for (; part < result.sources.size(); ++part) result.sources[part].origin = static_cast<int>(i);
  }
  for (std::size_t i = 0; i < shot.receivers.size(); ++i) {
    result.receivers.push_back(receivers.of(shot.receivers[i], receiver_name(i, number)));
    for (RatioTaps& ratio : points.take_slopes()) result.receiver_slopes.push_back({i, std::move(ratio)});
  }
  return result;
}

}  // namespace ondula
