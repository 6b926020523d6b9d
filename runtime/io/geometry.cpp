// Positions on a grid: from what a job states to metres, inside or outside, on a surface or not.
// SPDX-License-Identifier: MIT
#include "runtime/io/geometry.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "runtime/io/job_sections.hpp"
#include "runtime/io/suggest.hpp"

namespace ondula::io {

namespace {

/// What rounding may leave between a stated position and a node, in cells.
constexpr double slack = 1e-6;

/// A coordinate in cells: 0 at the first node.
double in_cells(double metres, const Grid& grid, std::size_t axis) {
  return (metres - grid.origin[axis]) / grid.spacing[axis];
}

bool inside(double metres, const Grid& grid, std::size_t axis) {
  const double cell = in_cells(metres, grid, axis);
  return cell >= -slack && cell <= static_cast<double>(grid.shape[axis] - 1) + slack;
}

/// The i-th of count values from `from` to `to`; multiplied first, so that whole steps come out exact.
double between(double from, double to, std::int64_t i, std::int64_t count) {
  if (i == count - 1) return to;
  return from + (to - from) * static_cast<double>(i) / static_cast<double>(count - 1);
}

std::vector<std::vector<double>> expand_line(const Line& line, const Grid& grid) {
  const std::vector<double> from = to_metres(line.from, grid);
  const std::vector<double> to = to_metres(line.to, grid);
  std::vector<std::vector<double>> positions;
  positions.reserve(static_cast<std::size_t>(line.count));
  for (std::int64_t i = 0; i < line.count; ++i) {
    std::vector<double> point;
    point.reserve(from.size());
    for (std::size_t axis = 0; axis < from.size(); ++axis)
      point.push_back(between(from[axis], to[axis], i, line.count));
    positions.push_back(std::move(point));
  }
  return positions;
}

std::vector<std::vector<double>> expand_plane(const Plane& plane, const Grid& grid) {
  const auto fixed = static_cast<std::size_t>(plane.axis);
  std::vector<std::size_t> others;
  for (std::size_t axis = 0; axis < grid.axes.size(); ++axis) {
    if (axis != fixed) others.push_back(axis);
  }
  const double at = to_metres(plane.at, grid, {fixed})[0];
  const std::vector<double> from = to_metres(plane.from, grid, others);
  const std::vector<double> to = to_metres(plane.to, grid, others);
  std::vector<std::vector<double>> positions;
  std::vector<std::int64_t> index(others.size(), 0);
  for (bool more = true; more;) {
    std::vector<double> point(grid.axes.size(), at);
    for (std::size_t i = 0; i < others.size(); ++i)
      point[others[i]] = between(from[i], to[i], index[i], plane.counts[i]);
    positions.push_back(std::move(point));
    more = false;
    for (std::size_t i = others.size(); i-- > 0 && !more;) {
      if (++index[i] < plane.counts[i])
        more = true;
      else
        index[i] = 0;
    }
  }
  return positions;
}

/// The two axes whose exchange would bring the position inside, in words; empty if none would.
std::string exchange_hint(const std::vector<double>& metres, bool cells, const Grid& grid) {
  for (std::size_t a = 0; a < metres.size(); ++a) {
    for (std::size_t b = a + 1; b < metres.size(); ++b) {
      std::vector<double> swapped = metres;
      if (cells) {
        swapped[a] = grid.origin[a] + in_cells(metres[b], grid, b) * grid.spacing[a];
        swapped[b] = grid.origin[b] + in_cells(metres[a], grid, a) * grid.spacing[b];
      } else {
        std::swap(swapped[a], swapped[b]);
      }
      bool fits = true;
      for (std::size_t axis = 0; axis < swapped.size(); ++axis)
        fits = fits && inside(swapped[axis], grid, axis);
      if (fits)
        return fmt::format("; with {} and {} swapped it would lie inside: are the axes in the wrong order?",
                           grid.axes[a], grid.axes[b]);
    }
  }
  return "";
}

bool vanishes(const std::string& field, const std::string& axis) {
  // Pressure, minus the mean of normal stresses, keeps those along the surface; strain rates keep theirs.
  if (field == "pressure" || field == "fibre" || field.starts_with("e.")) return false;
  const std::size_t dot = field.find('.');
  if (dot == std::string::npos) return true;
  return field.substr(dot + 1) == axis + axis;
}

}  // namespace

std::vector<double> to_metres(const Position& position, const Grid& grid,
                              const std::vector<std::size_t>& axes) {
  std::vector<double> metres = position.values;
  if (!position.cells) return metres;
  for (std::size_t i = 0; i < metres.size(); ++i) {
    const std::size_t axis = axes.empty() ? i : axes[i];
    metres[i] = grid.origin[axis] + position.values[i] * grid.spacing[axis];
  }
  return metres;
}

std::vector<std::vector<double>> expand(const ReceiverSpec& receiver, const Grid& grid) {
  if (receiver.layout == ReceiverSpec::Layout::line) return expand_line(receiver.line, grid);
  if (receiver.layout == ReceiverSpec::Layout::plane) return expand_plane(receiver.plane, grid);
  std::vector<std::vector<double>> positions;
  positions.reserve(receiver.points.size());
  for (const Position& point : receiver.points) positions.push_back(to_metres(point, grid));
  return positions;
}

void snap_to_grid(std::vector<double>& metres, const Grid& grid) {
  for (std::size_t axis = 0; axis < metres.size(); ++axis) {
    if (!inside(metres[axis], grid, axis)) continue;
    const double last = grid.origin[axis] + static_cast<double>(grid.shape[axis] - 1) * grid.spacing[axis];
    metres[axis] = std::clamp(metres[axis], grid.origin[axis], last);
  }
}

std::optional<std::string> outside(const std::vector<double>& metres, bool cells, const Grid& grid) {
  for (std::size_t axis = 0; axis < metres.size(); ++axis) {
    if (inside(metres[axis], grid, axis)) continue;
    const std::string& name = grid.axes[axis];
    const std::string hint = exchange_hint(metres, cells, grid);
    const auto last = static_cast<double>(grid.shape[axis] - 1);
    if (cells) {
      return fmt::format("{} = cell {:.0f} lies outside the grid, whose {} runs from cell 0 to {:.0f}{}",
                         name, in_cells(metres[axis], grid, axis), name, last, hint);
    }
    return fmt::format("{} = {} m lies outside the grid, whose {} runs from {} to {} m{}", name, metres[axis],
                       name, grid.origin[axis], grid.origin[axis] + last * grid.spacing[axis], hint);
  }
  return std::nullopt;
}

std::optional<std::string> silent_face(const std::string& field, const std::vector<double>& metres,
                                       const Grid& grid) {
  for (std::size_t axis = 0; axis < grid.axes.size(); ++axis) {
    if (!vanishes(field, grid.axes[axis])) continue;
    for (std::size_t side = 0; side < 2; ++side) {
      if (grid.faces[axis][side].kind != FaceKind::free_surface) continue;
      const double row = side == 0 ? 0 : static_cast<double>(grid.shape[axis] - 1);
      if (std::abs(in_cells(metres[axis], grid, axis) - row) <= slack) return face_name(grid, axis, side);
    }
  }
  return std::nullopt;
}

std::optional<std::string> layer_warning(const Grid& grid, double speed, double frequency) {
  if (!(frequency > 0) || !(speed > 0)) return std::nullopt;
  const double half = speed / frequency / 2;
  std::vector<std::string> thin;
  for (std::size_t axis = 0; axis < grid.axes.size(); ++axis) {
    for (std::size_t side = 0; side < 2; ++side) {
      const Face& face = grid.faces[axis][side];
      if (face.kind != FaceKind::absorbing || face.width * grid.spacing[axis] >= half) continue;
      thin.push_back(fmt::format("{} ({:g} m; {:.0f} cells would do)", face_name(grid, axis, side),
                                 face.width * grid.spacing[axis], std::ceil(half / grid.spacing[axis])));
    }
  }
  if (thin.empty()) return std::nullopt;
  return fmt::format(
      "absorb.width: under half a wavelength ({:g} m at {:g} m/s and {:.3g} Hz) on {}: low frequencies will "
      "reflect",
      half, speed, frequency, list_of(thin));
}

}  // namespace ondula::io
