// Sources and receivers of a shot.
// SPDX-License-Identifier: MIT
#include "runtime/shot_points.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

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

/// Whether taps may reach beyond a free surface.
bool beside_surface(const Grid& grid, const std::vector<double>& position) {
  constexpr double reach = 4;  // cells
  for (std::size_t a = 0; a < position.size(); ++a) {
    const double cell = (position[a] - grid.origin[a]) / grid.spacing[a];
    const auto last = static_cast<double>(grid.shape[a] - 1);
    if (grid.faces[a][0].kind == FaceKind::free_surface && cell < reach) return true;
    if (grid.faces[a][1].kind == FaceKind::free_surface && cell > last - reach) return true;
  }
  return false;
}

/// Of an engine's own list of taps, besides the taps.
constexpr std::size_t bytes_per_pickup = 4 * sizeof(void*);

/// How many samples fine_wavelet gives at most.
std::size_t fine_samples(std::size_t wavelet, const Sampling& sampling) {
  const auto most = static_cast<std::size_t>(sampling.steps());
  return std::min(
      most, sampling.substeps == 1 ? wavelet : (wavelet + 16) * static_cast<std::size_t>(sampling.substeps));
}

}  // namespace

ShotPoints shot_points(const ir::Program& program, const ir::Domain& domain, const Grid& grid,
                       const loop::Models& models, const Sampling& sampling, const Shot& shot,
                       std::int64_t number) {
  PointTaps points(program, domain, models);
  SourceTaps sources(program, domain, grid, sampling, points);
  ReceiverTaps receivers(program, grid, points);
  ShotPoints result;
  for (std::size_t i = 0; i < shot.sources.size(); ++i)
    sources.add(shot.sources[i], fmt::format("source {} of shot {}", i, number), result.sources);
  for (std::size_t i = 0; i < shot.receivers.size(); ++i) {
    result.receivers.push_back(
        receivers.of(shot.receivers[i], fmt::format("receiver {} of shot {}", i, number)));
  }
  return result;
}

PointBytes points_bytes(const ir::Program& program, const Grid& grid, const Sampling& sampling,
                        const Shot& shot) {
  /// Points read along each axis, on a grid `half` a cell off, by a derivative along `slope`.
  const auto taps = [&](const ir::HalfCells& half, const std::vector<double>& position,
                        Interpolation interpolation, int slope) {
    std::size_t count = 1;
    for (std::size_t a = 0; a < position.size(); ++a) {
      const double cell = (position[a] - grid.origin[a]) / grid.spacing[a] - (half[a] != 0 ? 0.5 : 0.0);
      const bool on_node = std::fabs(cell - std::nearbyint(cell)) < 1e-6;
      const std::size_t along = on_node ? 1 : interpolation == Interpolation::linear ? 2 : 8;
      count *= along + (static_cast<int>(a) == slope ? static_cast<std::size_t>(program.order) - 1 : 0);
    }
    return count;
  };
  PointBytes bytes;
  const auto add = [&](std::size_t count, std::size_t own, std::size_t own_bound) {
    bytes.made += own + count * sizeof(ir::Tap);
    bytes.bound += own_bound + count * sizeof(device::Weighted);
  };
  const auto dims = static_cast<int>(grid.axes.size());
  for (const Source& source : shot.sources) {
    const std::size_t samples = fine_samples(source.wavelet.size(), sampling) * sizeof(double);
    const bool point = source.kind == SourceKind::point;
    const auto components = static_cast<std::size_t>(
        point ? 1 : std::count_if(source.components.begin(), source.components.end(), [](double c) {
          return c != 0;
        }));
    const ir::HalfCells half = point ? program.field(source.field).stagger : ir::HalfCells{};
    const auto add_all = [&](int slope) {
      const std::size_t count = taps(half, source.position, source.interpolation, slope);
      for (std::size_t c = 0; c < components; ++c)
        add(count, 2 * samples + sizeof(ir::PointSource), samples + bytes_per_pickup);
    };
    add_all(-1);
    if (source.kind == SourceKind::moment_rate || !beside_surface(grid, source.position)) continue;
    for (int a = 1; a < dims; ++a) add_all(a);  // the velocities along the surface
  }
  for (const Receiver& r : shot.receivers) {
    bytes.made += sizeof(ir::PointReceiver);
    const bool own = std::any_of(program.fields.begin(), program.fields.end(),
                                 [&](const ir::Field& f) { return f.name == r.field; });
    const int parts = own ? 1 : r.field == "fibre" || r.field == "pressure" ? dims : 1;
    for (int a = 0; a < parts; ++a) {
      const ir::HalfCells half = own ? program.field(r.field).stagger : ir::HalfCells{};
      const int slope = own || r.field == "pressure" ? -1 : a;
      add(taps(half, r.position, r.interpolation, slope), sizeof(ir::FieldTaps), bytes_per_pickup);
    }
  }
  return bytes;
}

}  // namespace ondula
