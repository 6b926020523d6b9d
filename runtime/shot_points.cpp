// Sources and receivers of a shot.
// SPDX-License-Identifier: MIT
#include "runtime/shot_points.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "compiler/error.hpp"
#include "runtime/device/device.hpp"
#include "runtime/domain.hpp"
#include "runtime/loop/taps.hpp"
#include "runtime/point_taps.hpp"
#include "runtime/receivers.hpp"
#include "runtime/substeps.hpp"

namespace ondula {
namespace {

class SourceTaps {
 public:
  SourceTaps(const ir::Program& program, const ir::Domain& domain, const Grid& grid, const Sampling& sampling,
             PointTaps& points)
      : program_(program), domain_(domain), grid_(grid), sampling_(sampling), points_(points) {
    for (const ir::Field& field : program.fields) {
      first_order_ |= field.kind != ir::FieldKind::scalar;
      staggered_time_ |= field.half_step;
    }
    for (const double h : grid.spacing) volume_ *= h;
  }

  /// Point sources for each component that is not 0, in the order of the fields.
  void add(const Source& source, const std::string& what, std::vector<ir::PointSource>& into) {
    for (const double sample : source.wavelet) {
      if (!std::isfinite(sample)) throw UserError(what + ": its wavelet has a value that is not finite");
    }
    if (!std::isfinite(source.strength))
      throw UserError(fmt::format("{}: strength {}", what, source.strength));
    if (source.kind == SourceKind::point) {
      if (!fed(source.field)) {
        throw UserError(
            fmt::format("{}: equation {} has no source on field {}", what, program_.equation, source.field));
      }
      component(source, program_.field(source.field), 1, what, into);
      return;
    }
    const bool force = source.kind == SourceKind::force;
    const std::vector<double> values = force ? direction(source, what) : tensor(source, what);
    bool found = false;
    for (const ir::Field& field : program_.fields) {
      const bool kind = field.kind == (force ? ir::FieldKind::vector : ir::FieldKind::tensor);
      if (!kind || field.strip_axis >= 0 || !fed(field.name)) continue;
      if (!source.field.empty() && field.group != source.field) continue;
      found = true;
      std::size_t entry = 0;
      for (const int axis : field.component)
        entry = entry * program_.axes.size() + static_cast<std::size_t>(axis);
      if (values[entry] != 0) component(source, field, values[entry], what, into);
    }
    if (!found) {
      throw UserError(fmt::format("{}: equation {} takes no {}{}{}", what, program_.equation,
                                  force ? "force" : "moment rate", source.field.empty() ? "" : " on ",
                                  source.field));
    }
  }

 private:
  bool fed(const std::string& field) const {
    return std::any_of(program_.operations.begin(), program_.operations.end(), [&](const ir::Operation& o) {
      const auto* injection = std::get_if<ir::Injection>(&o);
      return injection != nullptr && injection->source == field;
    });
  }

  std::vector<double> direction(const Source& source, const std::string& what) const {
    require_finite(source, what);
    if (source.components.size() == program_.axes.size()) return source.components;
    throw UserError(
        fmt::format("{}: a force needs a direction with one value for each of the axes {}; found {} values",
                    what, fmt::join(program_.axes, ", "), source.components.size()));
  }

  std::vector<double> tensor(const Source& source, const std::string& what) const {
    require_finite(source, what);
    const std::size_t n = program_.axes.size();
    const std::vector<double>& m = source.components;
    if (m.size() != n * n) {
      throw UserError(
          fmt::format("{}: a moment rate needs a tensor of {} x {} values, found {}", what, n, n, m.size()));
    }
    for (std::size_t a = 0; a < n; ++a) {
      for (std::size_t b = 0; b < a; ++b) {
        if (m[a * n + b] == m[b * n + a]) continue;
        throw UserError(fmt::format("{}: the moment tensor is not symmetric: {}{} = {}, {}{} = {}", what,
                                    program_.axes[a], program_.axes[b], m[a * n + b], program_.axes[b],
                                    program_.axes[a], m[b * n + a]));
      }
    }
    return m;
  }

  static void require_finite(const Source& source, const std::string& what) {
    for (const double value : source.components) {
      if (!std::isfinite(value)) throw UserError(fmt::format("{}: a component of {}", what, value));
    }
  }

  /// The transpose of the receiver that samples `field` there, times `share`. Besides `field` it may feed
  /// others: a force across a free surface feeds the velocities along it.
  void component(const Source& source, const ir::Field& field, double share, const std::string& what,
                 std::vector<ir::PointSource>& into) {
    const std::vector<double> cells = cells_of(grid_, source.position, what);
    const bool raw = source.scaling == Scaling::raw;
    // A field at whole steps of a leapfrog changes between them, which is when a rate has its sample.
    const bool middle = staggered_time_ && !field.half_step && !raw;
    const auto samples =
        fine_wavelet(source.wavelet, sampling_.substeps, middle ? 0.5 : 0.0, sampling_.steps());
    if (raw) {
      auto taps = loop::interpolation_taps(domain_, field, first_order_, cells, source.interpolation);
      for (ir::Tap& tap : taps) tap.weight *= source.strength * share;
      into.push_back({field.name, std::move(taps), samples, true});
      return;
    }
    points_.sample(field, cells, source.interpolation, source.strength * share / volume_);
    for (ir::FieldTaps& part : points_.take()) {
      for (ir::Tap& tap : part.taps) tap.weight *= inside_share(program_.field(part.field), tap);
      into.push_back({part.field, std::move(part.taps), samples, false});
    }
  }

  /// A node on the row of a face about which the field is even owns half a cell: what is spread over it is
  /// twice as dense. With the weights folded by parity this makes sources the transposes of receivers in the
  /// scheme's own energy, and amplitudes right on the row.
  double inside_share(const ir::Field& field, const ir::Tap& tap) const {
    double share = 1;
    for (int axis = 0; axis < domain_.dims; ++axis) {
      const auto a = static_cast<std::size_t>(axis);
      if (field.stagger[a] != 0) continue;
      for (int side = 0; side < 2; ++side) {
        const ir::Image image = domain_.image(field, axis, side, first_order_);
        const std::int64_t row = side == 0 ? 0 : domain_.total(axis) - 1;
        if (image.kind == ir::ImageKind::node && image.sign > 0 && tap.index[a] == row) share *= 2;
      }
    }
    return share;
  }

  const ir::Program& program_;
  const ir::Domain& domain_;
  const Grid& grid_;
  Sampling sampling_;
  PointTaps& points_;
  bool first_order_ = false;
  bool staggered_time_ = false;
  double volume_ = 1;
};

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

/// Counts what the points of a shot take: each kind at each kind of place is made once.
class PointCounter {
 public:
  PointCounter(const ir::Program& program, const ir::Domain& domain, const Grid& grid,
               const loop::Models& models, const Sampling& sampling)
      : grid_(grid),
        sampling_(sampling),
        order_(program.order),
        points_(program, domain, models),
        sources_(program, domain, grid, {1, 1}, points_),
        receivers_(program, grid, points_) {}

  PointBytes of(const Shot& shot) {
    for (const Source& source : shot.sources) add(source);
    for (const Receiver& receiver : shot.receivers) add(receiver);
    return bytes_;
  }

 private:
  void add(const Source& source) {
    const std::string key =
        fmt::format("source {} {} {} {} {}{}", static_cast<int>(source.kind), source.field,
                    fmt::join(source.components, ","), static_cast<int>(source.scaling),
                    static_cast<int>(source.interpolation), place_of(grid_, source.position, order_));
    auto found = counts_.find(key);
    if (found == counts_.end()) {
      Source one = source;
      one.wavelet = {1};
      one.strength = 1;
      std::vector<ir::PointSource> made;
      sources_.add(one, "source", made);
      found = counts_.emplace(key, std::vector<std::size_t>{}).first;
      for (const ir::PointSource& point : made) found->second.push_back(point.taps.size());
    }
    const std::size_t samples = fine_samples(source.wavelet.size(), sampling_) * sizeof(double);
    for (const std::size_t taps : found->second) {
      // Sources stay until the engine has made its own of them all.
      const std::size_t bound = samples + bytes_per_pickup + taps * sizeof(device::Weighted);
      bytes_.made += samples + sizeof(ir::PointSource) + taps * sizeof(ir::Tap) + bound;
      bytes_.bound += bound;
    }
  }

  void add(const Receiver& receiver) {
    bytes_.made += sizeof(ir::PointReceiver);
    const std::string key =
        fmt::format("receiver {} {} {}{}", receiver.field, fmt::join(receiver.direction, ","),
                    static_cast<int>(receiver.interpolation), place_of(grid_, receiver.position, order_));
    auto found = counts_.find(key);
    if (found == counts_.end()) {
      found = counts_.emplace(key, std::vector<std::size_t>{}).first;
      for (const ir::FieldTaps& part : receivers_.of(receiver, "receiver").parts)
        found->second.push_back(part.taps.size());
    }
    for (const std::size_t taps : found->second) {
      bytes_.made += sizeof(ir::FieldTaps) + taps * sizeof(ir::Tap);
      bytes_.bound += bytes_per_pickup + taps * sizeof(device::Weighted);
    }
  }

  const Grid& grid_;
  Sampling sampling_;
  int order_;
  PointTaps points_;
  SourceTaps sources_;
  ReceiverTaps receivers_;
  std::map<std::string, std::vector<std::size_t>> counts_;  // taps of each part, by what it depends on
  PointBytes bytes_;
};

}  // namespace

ShotPoints shot_points(const ir::Program& program, const ir::Domain& domain, const Grid& grid,
                       const loop::Models& models, const Sampling& sampling, const Shot& shot,
                       std::int64_t number) {
  PointTaps points(program, domain, models);
  SourceTaps sources(program, domain, grid, sampling, points);
  ReceiverTaps receivers(program, grid, points);
  ShotPoints result;
  result.receivers.reserve(shot.receivers.size());
  for (std::size_t i = 0; i < shot.sources.size(); ++i)
    sources.add(shot.sources[i], fmt::format("source {} of shot {}", i, number), result.sources);
  for (std::size_t i = 0; i < shot.receivers.size(); ++i) {
    result.receivers.push_back(
        receivers.of(shot.receivers[i], fmt::format("receiver {} of shot {}", i, number)));
  }
  return result;
}

PointBytes points_bytes(const ir::Program& program, const ir::Domain& domain, const Grid& grid,
                        const loop::Models& models, const Sampling& sampling, const Shot& shot) {
  return PointCounter(program, domain, grid, models, sampling).of(shot);
}

}  // namespace ondula
