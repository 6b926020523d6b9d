// The job's grid, faces and clock.
// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>

#include "runtime/io/job_sections.hpp"
#include "runtime/io/suggest.hpp"

namespace ondula::io {

namespace {

constexpr std::int64_t most_cells = std::int64_t{1} << 62;
constexpr std::int64_t widest_layer = 10000;
constexpr std::int64_t most_steps = 1'000'000'000;

std::vector<std::string> parse_axes(const Node& node) {
  static const std::vector<std::vector<std::string>> known = {{"z"}, {"x"}, {"z", "x"}, {"z", "y", "x"}};
  std::vector<std::string> axes;
  const std::string allowed = R"(["z"], ["x"], ["z","x"] or ["z","y","x"], slowest first)";
  if (!node.value().is_array()) node.fail(allowed);
  for (const Node& item : node.items()) {
    if (!item.value().is_string()) node.fail(allowed);
    axes.push_back(item.value().get<std::string>());
  }
  if (std::find(known.begin(), known.end(), axes) == known.end()) node.fail(allowed);
  return axes;
}

/// A list with one entry per axis; complains with the axes if the count differs.
std::vector<Node> per_axis(const Node& node, const std::vector<std::string>& axes, const std::string& what) {
  const std::string allowed =
      fmt::format("a list of {} {}, one for each of the axes {}", axes.size(), what, list_of(axes));
  if (!node.value().is_array() || node.value().size() != axes.size()) node.fail(allowed);
  return node.items();
}

/// The index of a face named like "z-" among 2·axis + side.
std::pair<std::size_t, std::size_t> find_face(const std::string& name, const Grid& grid) {
  for (std::size_t axis = 0; axis < grid.axes.size(); ++axis) {
    for (std::size_t side = 0; side < 2; ++side) {
      if (face_name(grid, axis, side) == name) return {axis, side};
    }
  }
  return {grid.axes.size(), 0};
}

std::vector<std::string> all_faces(const Grid& grid) {
  std::vector<std::string> names;
  for (std::size_t axis = 0; axis < grid.axes.size(); ++axis) {
    for (std::size_t side = 0; side < 2; ++side) names.push_back(face_name(grid, axis, side));
  }
  return names;
}

void parse_free_surfaces(const Node& node, Grid& grid) {
  const std::vector<std::string> names = all_faces(grid);
  if (!node.value().is_array()) node.fail("a list of faces among " + list_of(names));
  for (const Node& item : node.items()) {
    const auto [axis, side] = find_face(item.choice(names), grid);
    Face& face = grid.faces[axis][side];
    if (face.kind == FaceKind::periodic) {
      item.refuse(
          fmt::format("the axis {} is periodic (grid.periodic), so its faces cannot be free surfaces; drop "
                      "one of the two",
                      grid.axes[axis]));
    }
    if (face.kind == FaceKind::free_surface)
      item.refuse(fmt::format("the face {} is listed twice", item.value().get<std::string>()));
    face = Face{FaceKind::free_surface, 0};
  }
}

void set_width(Face& face, std::int64_t width) {
  face.width = static_cast<int>(width);
  face.kind = width == 0 ? FaceKind::rigid : FaceKind::absorbing;
}

void parse_widths(const Node& node, Grid& grid) {
  if (node.value().is_number()) {
    const std::int64_t width = node.integer(0, widest_layer, "cells");
    for (auto& sides : grid.faces) {
      for (Face& face : sides) {
        if (face.kind == FaceKind::absorbing) set_width(face, width);
      }
    }
    return;
  }
  if (!node.value().is_object()) node.fail(R"(a width in cells, or one per face: {"z+": 30, "x-": 0})");
  node.only(all_faces(grid));
  for (const auto& [name, value] : node.members()) {
    const auto [axis, side] = find_face(name, grid);
    Face& face = grid.faces[axis][side];
    const std::int64_t width = value.integer(0, widest_layer, "cells");
    if (face.kind == FaceKind::free_surface) {
      value.refuse(fmt::format(
          "the face {} has a layer width ({}) but is a free surface too (free_surface); drop one of the two",
          name, width));
    }
    if (face.kind == FaceKind::periodic) {
      value.refuse(
          fmt::format("the face {} has a layer width ({}) but the axis {} is periodic (grid.periodic); drop "
                      "one of the two",
                      name, width, grid.axes[axis]));
    }
    set_width(face, width);
  }
}

/// A number, or "auto" for what follows from the run.
std::optional<double> number_or_auto(const std::optional<Node>& node, const Range& range) {
  if (!node) return std::nullopt;
  if (node->value() == "auto") return std::nullopt;
  if (node->value().is_string()) node->fail("\"auto\", or " + describe(range));
  return node->number(range);
}

}  // namespace

std::string face_name(const Grid& grid, std::size_t axis, std::size_t side) {
  return grid.axes[axis] + (side == 0 ? "-" : "+");
}

Grid parse_grid(const Node& node) {
  node.only({"axes", "shape", "spacing", "origin", "periodic"});
  Grid grid;
  grid.axes = parse_axes(node.at("axes", R"(the axes, slowest first: ["z","x"])"));
  const Node shape = node.at("shape", "the number of nodes on each axis");
  std::int64_t cells = 1;
  for (const Node& item : per_axis(shape, grid.axes, "node counts")) {
    const std::int64_t nodes = item.integer(1, std::numeric_limits<std::int32_t>::max(), "nodes");
    if (nodes > most_cells / cells) shape.refuse("the grid has over 2^62 nodes");
    cells *= nodes;
    grid.shape.push_back(nodes);
  }
  const Node spacing = node.at("spacing", "the node spacing on each axis, in m");
  for (const Node& item : per_axis(spacing, grid.axes, "spacings in m"))
    grid.spacing.push_back(item.number(positive_number("m")));
  grid.origin.assign(grid.axes.size(), 0.0);
  if (const auto origin = node.find("origin")) {
    const auto items = per_axis(*origin, grid.axes, "coordinates in m");
    for (std::size_t axis = 0; axis < items.size(); ++axis)
      grid.origin[axis] = items[axis].number(any_number("m"));
  }
  grid.faces.assign(grid.axes.size(), {Face{}, Face{}});
  if (const auto periodic = node.find("periodic")) {
    if (!periodic->value().is_array()) periodic->fail("a list of axes among " + list_of(grid.axes));
    std::set<std::string> seen;
    for (const Node& item : periodic->items()) {
      const std::string name = item.choice(grid.axes);
      if (!seen.insert(name).second) item.refuse(fmt::format("the axis {} is listed twice", name));
      const auto axis =
          static_cast<std::size_t>(std::find(grid.axes.begin(), grid.axes.end(), name) - grid.axes.begin());
      grid.faces[axis] = {Face{FaceKind::periodic, 0}, Face{FaceKind::periodic, 0}};
    }
  }
  return grid;
}

void parse_faces(const std::optional<Node>& free_surface, const std::optional<Node>& absorb, Job& job) {
  if (free_surface) parse_free_surfaces(*free_surface, job.grid);
  if (!absorb) return;
  absorb->only({"width", "frequency", "velocity", "reflection", "kappa"});
  if (const auto width = absorb->find("width")) parse_widths(*width, job.grid);
  job.absorb.frequency = number_or_auto(absorb->find("frequency"), nonnegative_number("Hz"));
  job.absorb.velocity = number_or_auto(absorb->find("velocity"), positive_number("m/s"));
  job.absorb.reflection = number_or_auto(absorb->find("reflection"), Range{0, 1, true, true, ""});
  Range stretch = any_number();
  stretch.low = 1;
  if (const auto kappa = absorb->find("kappa")) job.absorb.kappa = kappa->number(stretch);
}

void parse_time(const Node& node, Job& job) {
  node.only({"dt", "steps", "substeps", "t0"});
  job.dt = node.at("dt", "the sampling interval, in s").number(positive_number("s"));
  job.steps = node.at("steps", "the number of samples").integer(0, most_steps, "steps");
  if (const auto t0 = node.find("t0")) job.t0 = t0->number(any_number("s"));
  const auto substeps = node.find("substeps");
  if (!substeps || substeps->value() == "auto") return;
  if (!substeps->value().is_number()) substeps->fail(R"("auto", or a whole number from 1 to 16)");
  job.substeps = static_cast<int>(substeps->integer(1, 16));
}

}  // namespace ondula::io
