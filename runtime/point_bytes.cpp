// Counting taps.
// SPDX-License-Identifier: MIT
#include "runtime/point_bytes.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "runtime/device/device.hpp"
#include "runtime/loop/taps.hpp"

namespace ondula {
namespace {

/// Of an engine's own list of taps, besides the taps.
constexpr std::size_t bytes_per_pickup = 4 * sizeof(void*);

/// How many samples fine_wavelet gives at most.
std::size_t fine_samples(std::size_t wavelet, const Sampling& sampling) {
  const auto most = static_cast<std::size_t>(sampling.steps());
  return std::min(
      most, sampling.substeps == 1 ? wavelet : (wavelet + 16) * static_cast<std::size_t>(sampling.substeps));
}

/// What the number of taps at `position` depends on, of fields on any grid: along each axis whether it lies
/// on nodes or half cells, and its distance to either face in whole cells, as far as taps and surface rules
/// reach.
std::string place_of(const Grid& grid, const std::vector<double>& position, int order) {
  std::string place;
  for (std::size_t a = 0; a < position.size(); ++a) {
    const double cell = (position[a] - grid.origin[a]) / grid.spacing[a];
    const double last = static_cast<double>(grid.shape[a] - 1), reach = 16 + order;
    const bool node = loop::on_node(cell), half = loop::on_node(cell + 0.5);
    const double whole = node ? std::nearbyint(cell) : std::floor(cell);
    place += fmt::format(" {}{}/{}/{}", node, half, std::min(whole, reach), std::min(last - whole, reach));
  }
  return place;
}

void add(ShotCounts& into, const ShotCounts& more) {
  into.points.sources += more.points.sources;
  into.points.source_taps += more.points.source_taps;
  into.points.rows += more.points.rows;
  into.points.row_taps += more.points.row_taps;
  into.slope_rows += more.slope_rows;
  into.slope_taps += more.slope_taps;
  for (const auto& [term, fed] : more.fed) {
    into.fed[term].first += fed.first;
    into.fed[term].second += fed.second;
  }
}

}  // namespace

PointCounter::PointCounter(const ir::Program& program, const ir::Domain& domain, const Grid& grid,
                           const loop::Models& models, const Sampling& sampling)
    : grid_(grid),
      sampling_(sampling),
      order_(program.order),
      points_(program, domain, models, true),
      sources_(program, domain, grid, {1, 1}, points_),
      receivers_(program, grid, points_) {}

PointBytes PointCounter::of(const Shot& shot, std::int64_t number) {
  PointBytes bytes;
  for (std::size_t i = 0; i < shot.sources.size(); ++i) {
    const Source& source = shot.sources[i];
    const std::size_t samples = fine_samples(source.wavelet.size(), sampling_) * sizeof(double);
    const Kind& kind = kind_of(source, source_name(i, number));
    add(bytes.counts, kind.counts);
    for (const std::size_t taps : kind.taps) {
      // Sources stay until the engine has made its own of them all.
      const std::size_t bound = samples + bytes_per_pickup + taps * sizeof(device::Weighted);
      bytes.made += samples + sizeof(ir::PointSource) + taps * sizeof(ir::Tap) + bound;
      bytes.bound += bound;
    }
  }
  for (std::size_t i = 0; i < shot.receivers.size(); ++i) {
    bytes.made += sizeof(ir::PointReceiver);
    const Kind& kind = kind_of(shot.receivers[i], receiver_name(i, number));
    add(bytes.counts, kind.counts);
    for (const std::size_t taps : kind.taps) {
      bytes.made += sizeof(ir::FieldTaps) + taps * sizeof(ir::Tap);
      bytes.bound += bytes_per_pickup + taps * sizeof(device::Weighted);
    }
  }
  return bytes;
}

const PointCounter::Kind& PointCounter::kind_of(const Source& source, const std::string& what) {
  const std::string key =
      fmt::format("source {} {} {} {} {}{}", static_cast<int>(source.kind), source.field,
                  fmt::join(source.components, ","), static_cast<int>(source.scaling),
                  static_cast<int>(source.interpolation), place_of(grid_, source.position, order_));
  const auto found = kinds_.find(key);
  if (found != kinds_.end()) return found->second;
  Source one = source;
  one.wavelet = {1};
  one.strength = 1;
  ShotPoints made;
  sources_.add(one, what, made.sources, &made.source_slopes);
  Kind& kind = kinds_[key];
  for (const ir::PointSource& point : made.sources) kind.taps.push_back(point.taps.size());
  kind.counts = counts_of(made);
  return kind;
}

const PointCounter::Kind& PointCounter::kind_of(const Receiver& receiver, const std::string& what) {
  const std::string key =
      fmt::format("receiver {} {} {}{}", receiver.field, fmt::join(receiver.direction, ","),
                  static_cast<int>(receiver.interpolation), place_of(grid_, receiver.position, order_));
  const auto found = kinds_.find(key);
  if (found != kinds_.end()) return found->second;
  ShotPoints made;
  made.receivers.push_back(receivers_.of(receiver, what));
  for (RatioTaps& ratio : points_.take_slopes()) made.receiver_slopes.push_back({0, std::move(ratio)});
  Kind& kind = kinds_[key];
  for (const ir::FieldTaps& part : made.receivers.front().parts) kind.taps.push_back(part.taps.size());
  kind.counts = counts_of(made);
  return kind;
}

}  // namespace ondula
