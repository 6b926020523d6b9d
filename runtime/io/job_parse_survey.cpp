// The job's sources and receivers: what they are and where.
// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>
#include <set>

#include "compiler/error.hpp"
#include "runtime/io/job_sections.hpp"
#include "runtime/io/suggest.hpp"
#include "runtime/moment.hpp"

namespace ondula::io {

namespace {

constexpr std::int64_t most_positions = 20'000'000;  // of one entry: a gigabyte or two
constexpr std::int64_t most_shots = 1'000'000'000;

bool has(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// Refuses an axis that the grid does not have, or that may not stand here.
void check_axis(const Node& node, const std::string& key, const std::vector<std::string>& axes,
                const Grid& grid) {
  if (has(axes, key)) return;
  const std::vector<std::string> every = {"z", "y", "x"};
  if (has(grid.axes, key))
    node.refuse(fmt::format("the axis \"{}\" is held fixed here; name only {}", key, list_of(axes)));
  if (has(every, key)) {
    node.refuse(fmt::format("the axis \"{}\" does not exist on this {}-D grid, whose axes are {}", key,
                            grid.axes.size(), list_of(grid.axes)));
  }
  std::vector<std::string> allowed = axes;
  allowed.emplace_back("cell");
  throw UserError(fmt::format("{}: unknown key.{}", node.path_of(key), suggestion(key, allowed)));
}

double parse_cell(const Node& node, std::int64_t nodes) {
  const std::string allowed = fmt::format(
      "a whole cell number, from 0 to {} (a position between nodes is written in metres)", nodes - 1);
  if (!node.value().is_number()) node.fail(allowed);
  const double cell = node.value().get<double>();
  if (!(cell == std::floor(cell)) || std::abs(cell) > 1e15) node.fail(allowed);
  return cell;
}

std::size_t axis_index(const Grid& grid, const std::string& name) {
  return static_cast<std::size_t>(std::find(grid.axes.begin(), grid.axes.end(), name) - grid.axes.begin());
}

/// One coordinate on an axis: metres, or {"cell": n}.
Position parse_coordinate(const Node& node, const Grid& grid, std::size_t axis) {
  Position position;
  if (node.value().is_object()) {
    node.only({"cell"});
    position.cells = true;
    position.values = {parse_cell(node.at("cell", "a cell number"), grid.shape[axis])};
  } else {
    position.values = {node.number(any_number("m"))};
  }
  return position;
}

Line parse_line(const Node& node, const Grid& grid) {
  node.only({"from", "to", "count"});
  Line line;
  line.from = parse_position(node.at("from", "the first position"), grid.axes, grid);
  line.to = parse_position(node.at("to", "the last position"), grid.axes, grid);
  const Node count = node.at("count", "the number of positions");
  line.count = count.integer(1, most_positions, "positions");
  if (line.count == 1 && (line.from.values != line.to.values || line.from.cells != line.to.cells)) {
    count.refuse("found 1, but \"from\" and \"to\" differ; allowed: 2 or more");
  }
  return line;
}

Plane parse_plane(const Node& node, const Grid& grid) {
  node.only({"axis", "at", "from", "to", "count"});
  if (grid.axes.size() < 2) node.refuse("a plane needs a grid of two or more axes; use \"at\" or \"line\"");
  Plane plane;
  const std::string fixed = node.at("axis", "the axis that the plane holds fixed").choice(grid.axes);
  const std::size_t axis = axis_index(grid, fixed);
  plane.axis = static_cast<int>(axis);
  plane.at = parse_coordinate(node.at("at", "the plane's coordinate on its axis, in m"), grid, axis);
  std::vector<std::string> others = grid.axes;
  others.erase(others.begin() + plane.axis);
  plane.from = parse_position(node.at("from", "the first corner, on the other axes"), others, grid);
  plane.to = parse_position(node.at("to", "the last corner, on the other axes"), others, grid);
  const Node count = node.at("count", "the number of positions on each of the other axes");
  count.only(others);
  for (std::size_t i = 0; i < others.size(); ++i) {
    const Node number = count.at(others[i], "the number of positions on this axis");
    plane.counts.push_back(number.integer(1, most_positions, "positions"));
    const bool differ = plane.from.cells != plane.to.cells || plane.from.values[i] != plane.to.values[i];
    if (plane.counts.back() == 1 && differ) {
      number.refuse("found 1, but \"from\" and \"to\" differ on this axis; allowed: 2 or more");
    }
  }
  std::int64_t product = 1;
  for (const std::int64_t number : plane.counts) product *= number;
  if (product > most_positions) {
    count.refuse(fmt::format("found {} positions in all; allowed: at most {}", product, most_positions));
  }
  return plane;
}

Interpolation parse_interpolation(const Node& owner) {
  const auto node = owner.find("interpolation");
  if (!node) return Interpolation::sinc;
  return node->choice({"sinc", "linear"}) == "sinc" ? Interpolation::sinc : Interpolation::linear;
}

std::optional<std::vector<std::int64_t>> parse_shots(const Node& node) {
  if (node.value() == "all") return std::nullopt;
  if (!node.value().is_array() || node.value().empty()) node.fail(R"("all", or a list of shot numbers)");
  std::vector<std::int64_t> shots;
  std::set<std::int64_t> seen;
  for (const Node& item : node.items()) {
    shots.push_back(item.integer(0, most_shots));
    if (!seen.insert(shots.back()).second)
      item.refuse(fmt::format("the shot {} is listed twice", shots.back()));
  }
  return shots;
}

/// "explosion", {"double_couple": {...}} or {"zz": 1, "zx": 2, ...}, row by row; zx stands for xz too.
std::vector<double> parse_tensor(const Node& node, const Grid& grid) {
  const std::size_t n = grid.axes.size();
  if (node.value().is_string()) {
    node.choice({"explosion"});
    return explosion(n);
  }
  if (const auto couple = node.find("double_couple")) {
    node.only({"double_couple"});
    const bool space = n == 3;
    if (n == 1) couple->refuse("a double couple needs two axes or three");
    couple->only(space ? std::vector<std::string>{"strike", "dip", "rake"} : std::vector<std::string>{"dip"});
    const auto angle = [&](const char* name) {
      return couple->at(name, "an angle in degrees").number(any_number("degrees"));
    };
    return space ? double_couple(angle("strike"), angle("dip"), angle("rake"))
                 : double_couple_2d(angle("dip"));
  }
  std::vector<std::string> entries;
  for (const std::string& a : grid.axes) {
    for (const std::string& b : grid.axes) entries.push_back(a + b);
  }
  std::vector<std::string> allowed = entries;
  allowed.emplace_back("double_couple");
  node.only(allowed);
  std::vector<double> tensor(n * n, 0.0);
  bool any = false;
  for (std::size_t e = 0; e < entries.size(); ++e) {
    const auto entry = node.find(entries[e]);
    if (!entry) continue;
    const std::size_t mirror = e % n * n + e / n;
    tensor[e] = entry->number(any_number());
    any = any || tensor[e] != 0;
    if (!node.has(entries[mirror])) tensor[mirror] = tensor[e];
  }
  for (std::size_t e = 0; e < entries.size(); ++e) {
    const std::size_t mirror = e % n * n + e / n;
    if (tensor[e] != tensor[mirror])
      node.refuse(
          fmt::format("\"{}\" and \"{}\" differ; a moment tensor is symmetric", entries[e], entries[mirror]));
  }
  if (!any) node.refuse("every component is 0");
  return tensor;
}

/// "z", or {"z": 1, "x": 0.5}: what is not named is 0.
std::vector<double> parse_direction(const Node& node, const Grid& grid) {
  std::vector<double> direction(grid.axes.size(), 0.0);
  if (node.value().is_string()) {
    direction[axis_index(grid, node.choice(grid.axes))] = 1;
    return direction;
  }
  node.only(grid.axes);
  for (const auto& [name, entry] : node.members())
    direction[axis_index(grid, name)] = entry.number(any_number());
  if (std::all_of(direction.begin(), direction.end(), [](double d) { return d == 0; }))
    node.refuse("every component is 0");
  return direction;
}

/// The kind of a source and the keys that only that kind has.
void parse_kind(const Node& node, const Grid& grid, SourceSpec& source) {
  const auto kind_node = node.find("kind");
  const std::string kind = kind_node ? kind_node->choice({"point", "force", "moment_rate"}) : "point";
  const auto direction = node.find("direction");
  const auto tensor = node.find("tensor");
  if (direction && kind != "force")
    direction->refuse(fmt::format("a source of kind \"{}\" has no direction; allowed: kind \"force\"", kind));
  if (tensor && kind != "moment_rate")
    tensor->refuse(fmt::format("a source of kind \"{}\" has no tensor; allowed: kind \"moment_rate\"", kind));
  if (kind == "force") {
    source.kind = SourceKind::force;
    source.components = parse_direction(node.at("direction", "an axis, or a component for each axis"), grid);
  }
  if (kind == "moment_rate") {
    source.kind = SourceKind::moment_rate;
    source.components = parse_tensor(
        node.at("tensor", R"(components {"zz": 1, ...}, "explosion", or {"double_couple": {...}})"), grid);
  }
}

}  // namespace

std::string parse_field(const Node& node) {
  const std::string allowed = R"(a field's name, as "u", "v.z", "s.xx" or "pressure")";
  if (!node.value().is_string()) node.fail(allowed);
  const std::string name = node.value().get<std::string>();
  bool start = true;
  int dots = 0;
  for (const char c : name) {
    const auto letter = static_cast<unsigned char>(c);
    const bool fits =
        start ? std::isalpha(letter) != 0 || c == '_' : std::isalnum(letter) != 0 || c == '_' || c == '.';
    if (!fits) node.fail(allowed);
    start = c == '.';
    dots += c == '.' ? 1 : 0;
  }
  if (start || dots > 1) node.fail(allowed);
  return name;
}

Position parse_position(const Node& node, const std::vector<std::string>& axes, const Grid& grid) {
  const std::string allowed =
      fmt::format("an object with a coordinate in m for each of {}, or {{\"cell\": {{...}}}}", list_of(axes));
  if (!node.value().is_object()) node.fail(allowed);
  const auto cell = node.find("cell");
  if (cell) node.only({"cell"});
  const Node holder = cell.value_or(node);
  for (const auto& [key, value] : holder.members()) check_axis(holder, key, axes, grid);
  Position position;
  position.cells = cell.has_value();
  for (const std::string& name : axes) {
    const Node value = holder.at(
        name, fmt::format("the coordinate on this axis; a position names each of {}", list_of(axes)));
    position.values.push_back(position.cells ? parse_cell(value, grid.shape[axis_index(grid, name)])
                                             : value.number(any_number("m")));
  }
  return position;
}

SourceSpec parse_source(const Node& node, const Grid& grid, ParseContext& context) {
  node.only({"shot", "kind", "field", "direction", "tensor", "at", "wavelet", "strength", "scaling",
             "interpolation"});
  SourceSpec source;
  if (const auto shot = node.find("shot")) source.shot = shot->integer(0, most_shots);
  parse_kind(node, grid, source);
  if (source.kind == SourceKind::point || node.has("field")) {
    source.field = parse_field(node.at("field", "the name of the field the source feeds"));
  }
  source.at = parse_position(node.at("at", "the source's position"), grid.axes, grid);
  if (const auto wavelet = node.find("wavelet")) source.wavelet = parse_wavelet(*wavelet, context);
  if (const auto strength = node.find("strength")) source.strength = strength->number(any_number());
  if (const auto scaling = node.find("scaling")) {
    source.scaling = scaling->choice({"physical", "raw"}) == "raw" ? Scaling::raw : Scaling::physical;
  }
  source.interpolation = parse_interpolation(node);
  return source;
}

ReceiverSpec parse_receiver(const Node& node, const Grid& grid) {
  const std::string layout = node.one_of(
      {"at", "line", "plane"}, {"field", "at", "line", "plane", "interpolation", "shots", "direction"});
  ReceiverSpec receiver;
  receiver.field = parse_field(node.at("field", "the name of the field to record"));
  const auto direction = node.find("direction");
  if (direction && receiver.field != "fibre")
    direction->refuse(
        fmt::format("a receiver of \"{}\" has no direction; allowed: field \"fibre\"", receiver.field));
  if (receiver.field == "fibre")
    receiver.direction =
        parse_direction(node.at("direction", "the fibre's: an axis, or a component for each axis"), grid);
  const Node place = node.at(layout, "the positions");
  if (layout == "line") {
    receiver.layout = ReceiverSpec::Layout::line;
    receiver.line = parse_line(place, grid);
  } else if (layout == "plane") {
    receiver.layout = ReceiverSpec::Layout::plane;
    receiver.plane = parse_plane(place, grid);
  } else if (place.value().is_array()) {
    receiver.list = true;
    for (const Node& item : place.items()) receiver.points.push_back(parse_position(item, grid.axes, grid));
  } else {
    receiver.points.push_back(parse_position(place, grid.axes, grid));
  }
  receiver.interpolation = parse_interpolation(node);
  if (const auto shots = node.find("shots")) receiver.shots = parse_shots(*shots);
  return receiver;
}

}  // namespace ondula::io
