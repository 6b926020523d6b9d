// Checks of grids and positions.
// SPDX-License-Identifier: MIT
#include "runtime/domain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compiler/error.hpp"

namespace ondula {
namespace {

void check_axes(const Grid& grid) {
  static const std::vector<std::vector<std::string>> allowed = {{"z"}, {"x"}, {"z", "x"}, {"z", "y", "x"}};
  if (std::find(allowed.begin(), allowed.end(), grid.axes) == allowed.end()) {
    throw UserError(
        fmt::format("axes [{}]: allowed are [z], [x], [z, x] and [z, y, x]", fmt::join(grid.axes, ", ")));
  }
  const std::size_t dims = grid.axes.size();
  if (grid.shape.size() != dims || grid.spacing.size() != dims || grid.origin.size() != dims ||
      grid.faces.size() != dims) {
    throw UserError(
        fmt::format("a grid over {} axes needs as many extents, spacings, origins and pairs of faces; found "
                    "{}, {}, {} and {}",
                    dims, grid.shape.size(), grid.spacing.size(), grid.origin.size(), grid.faces.size()));
  }
}

void check_axis(const Grid& grid, std::size_t a, int order) {
  const std::string& axis = grid.axes[a];
  if (grid.shape[a] <= 0)
    throw UserError(fmt::format("axis {} has {} nodes: at least 1 is needed", axis, grid.shape[a]));
  if (!(grid.spacing[a] > 0) || !std::isfinite(grid.spacing[a])) {
    throw UserError(fmt::format("axis {} has spacing {} m: it must be positive", axis, grid.spacing[a]));
  }
  if (!std::isfinite(grid.origin[a]))
    throw UserError(fmt::format("axis {} has origin {}", axis, grid.origin[a]));
  const std::int64_t least = order / 2 + 1;
  if (grid.shape[a] < least) {
    throw UserError(
        fmt::format("axis {} has {} nodes: order {} needs at least {}", axis, grid.shape[a], order, least));
  }
  const auto& faces = grid.faces[a];
  const bool periodic = faces[0].kind == FaceKind::periodic;
  if (periodic != (faces[1].kind == FaceKind::periodic)) {
    throw UserError(fmt::format("axis {}: a periodic face needs a periodic face opposite", axis));
  }
  for (const Face& face : faces) {
    if (face.kind == FaceKind::absorbing && face.width < 0) {
      throw UserError(fmt::format("axis {}: a layer of {} cells; the width must be 0 (a rigid wall) or more",
                                  axis, face.width));
    }
  }
}

}  // namespace

ir::Domain make_domain(const Grid& grid, int order) {
  check_axes(grid);
  ir::Domain domain;
  domain.dims = static_cast<int>(grid.axes.size());
  double points = 1;
  for (std::size_t a = 0; a < grid.axes.size(); ++a) {
    check_axis(grid, a, order);
    domain.shape[a] = grid.shape[a];
    domain.spacing[a] = grid.spacing[a];
    for (std::size_t side = 0; side < 2; ++side) {
      const Face& face = grid.faces[a][side];
      const bool wall = face.kind == FaceKind::absorbing && face.width == 0;
      domain.faces[a][side] = wall ? FaceKind::rigid : face.kind;
      domain.pad[a][side] = face.kind == FaceKind::absorbing ? face.width : 0;
    }
    points *= static_cast<double>(domain.total(static_cast<int>(a)));
  }
  constexpr double most = 9e15;  // beyond exact indexing by far, and any memory
  if (points > most) throw UserError(fmt::format("a grid of {:.3g} points with its layers", points));
  return domain;
}

std::string cell_text(const Grid& grid, const std::vector<std::int64_t>& cell) {
  std::string text;
  for (std::size_t a = 0; a < cell.size(); ++a)
    text += fmt::format("{}{} {}", a == 0 ? "" : ", ", grid.axes[a], cell[a]);
  return text;
}

std::vector<double> cells_of(const Grid& grid, const std::vector<double>& position, const std::string& what) {
  if (position.size() != grid.axes.size()) {
    throw UserError(fmt::format("{}: a position with {} coordinates on a grid over [{}]", what,
                                position.size(), fmt::join(grid.axes, ", ")));
  }
  std::vector<double> cells;
  for (std::size_t a = 0; a < position.size(); ++a) {
    const double last = static_cast<double>(grid.shape[a] - 1);
    double cell = (position[a] - grid.origin[a]) / grid.spacing[a];
    constexpr double rounding = 1e-6;  // of a cell
    if (!(cell >= -rounding && cell <= last + rounding)) {
      throw UserError(fmt::format("{}: {} = {} m is outside the grid, whose {} runs from {} to {} m", what,
                                  grid.axes[a], position[a], grid.axes[a], grid.origin[a],
                                  grid.origin[a] + last * grid.spacing[a]));
    }
    cell = std::clamp(cell, 0.0, last);
    if (std::fabs(cell - std::nearbyint(cell)) < rounding) cell = std::nearbyint(cell);
    cells.push_back(cell);
  }
  return cells;
}

double node_weight(const ir::Domain& domain, const std::vector<const ir::Field*>& fields,
                   const ir::HalfCells& stagger, bool first_order, const ir::Extents& index) {
  double weight = 1;
  for (int axis = 0; axis < domain.dims; ++axis) {
    const auto a = static_cast<std::size_t>(axis);
    if (stagger[a] != 0) continue;
    for (int side = 0; side < 2; ++side) {
      if (index[a] != (side == 0 ? 0 : domain.total(axis) - 1)) continue;
      const bool even = std::any_of(fields.begin(), fields.end(), [&](const ir::Field* field) {
        const ir::Image image = domain.image(*field, axis, side, first_order);
        return image.kind == ir::ImageKind::node && image.sign > 0;
      });
      if (even) weight /= 2;
    }
  }
  return weight;
}

}  // namespace ondula
