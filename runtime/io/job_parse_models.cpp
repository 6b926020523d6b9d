// The job's models and outputs.
// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <set>

#include "runtime/io/job_model.hpp"
#include "runtime/io/job_sections.hpp"
#include "runtime/io/suggest.hpp"

namespace ondula::io {

namespace {

const std::vector<std::string>& raw_dtypes() {
  static const std::vector<std::string> names = {"float16", "float32", "float64", "int8",   "int16", "int32",
                                                 "int64",   "uint8",   "uint16",  "uint32", "uint64"};
  return names;
}

std::vector<std::string> parse_raw_axes(const Node& node, const Grid& grid) {
  const std::string allowed =
      fmt::format("the grid's axes {} in the file's own order, slowest first", list_of(grid.axes));
  if (!node.value().is_array()) node.fail(allowed);
  std::vector<std::string> axes;
  for (const Node& item : node.items()) axes.push_back(item.choice(grid.axes));
  const std::set<std::string> distinct(axes.begin(), axes.end());
  if (axes.size() != grid.axes.size() || distinct.size() != axes.size()) node.fail(allowed);
  return axes;
}

/// A list with a number > 0 (m) per axis of the grid.
std::vector<double> parse_steps(const Node& node, const Grid& grid) {
  if (!node.value().is_array() || node.value().size() != grid.axes.size())
    node.fail(fmt::format("a list of {} steps in m, one for each of the axes {}", grid.axes.size(),
                          list_of(grid.axes)));
  std::vector<double> steps;
  for (const Node& item : node.items()) steps.push_back(item.number(positive_number("m")));
  return steps;
}

SegyModelLayout parse_segy(const Node& node, const Grid& grid, const ParseContext& context) {
  SegyModelLayout segy;
  segy.path = context.path(node.at("segy", "the path of a SEG-Y or SU file"));
  if (const auto endian = node.find("endian")) segy.big_endian = endian->choice({"little", "big"}) == "big";
  if (const auto axes = node.find("axes")) segy.axes = parse_raw_axes(*axes, grid);
  if (const auto spacing = node.find("spacing")) segy.spacing = parse_steps(*spacing, grid);
  return segy;
}

RawLayout parse_raw(const Node& node, const Grid& grid, const ParseContext& context) {
  RawLayout raw;
  raw.path = context.path(node.at("raw", "the path of a file"));
  if (const auto dtype = node.find("dtype")) raw.dtype = dtype->choice(raw_dtypes());
  if (const auto endian = node.find("endian")) raw.endian = endian->choice({"little", "big"});
  raw.axes = grid.axes;
  if (const auto axes = node.find("axes")) raw.axes = parse_raw_axes(*axes, grid);
  if (const auto shape = node.find("shape")) {
    if (!shape->value().is_array() || shape->value().size() != raw.axes.size()) {
      shape->fail(
          fmt::format("{} extents, one for each of the file's axes {}", raw.axes.size(), list_of(raw.axes)));
    }
    for (const Node& item : shape->items())
      raw.shape.push_back(item.integer(1, std::int64_t{1} << 53, "nodes"));
  } else {
    for (const std::string& name : raw.axes) {
      const auto axis = std::find(grid.axes.begin(), grid.axes.end(), name) - grid.axes.begin();
      raw.shape.push_back(grid.shape[static_cast<std::size_t>(axis)]);
    }
  }
  return raw;
}

void parse_bounds(const Node& node, ModelSpec& spec) {
  if (const auto unit = node.find("unit")) spec.unit = unit->choice(known_units());
  if (const auto floor = node.find("floor")) spec.floor = floor->number(any_number());
  if (const auto ceiling = node.find("ceiling")) {
    Range range = any_number();
    if (spec.floor) range.low = *spec.floor;
    spec.ceiling = ceiling->number(range);
  }
}

}  // namespace

ModelSpec parse_model(const Node& node, const Grid& grid, ParseContext& context) {
  ModelSpec spec;
  if (node.value().is_number()) {
    spec.number = node.number(any_number());
    return spec;
  }
  if (node.value().is_string()) {
    spec.kind = ModelSpec::Kind::npy;
    spec.file = context.path(node);
    return spec;
  }
  if (!node.value().is_object()) {
    node.fail(R"(a number, the path of a .npy file, or an object with "value", "npy", "raw" or "segy")");
  }
  const std::vector<std::string> kinds = {"value", "npy", "raw", "segy"};
  const std::string kind = node.one_of(kinds, {"value", "npy", "raw", "segy", "dtype", "endian", "shape",
                                               "axes", "spacing", "unit", "floor", "ceiling"});
  for (const char* key : {"dtype", "endian", "shape", "axes", "spacing"}) {
    const std::string name = key;
    const bool of_raw = name != "spacing", of_segy = name != "dtype" && name != "shape";
    const auto extra = node.find(key);
    if (!extra || (kind == "raw" && of_raw) || (kind == "segy" && of_segy)) continue;
    extra->refuse(fmt::format("this key belongs to {}; it cannot stand beside \"{}\"",
                              of_raw && of_segy ? "\"raw\" or \"segy\""
                              : of_raw          ? "\"raw\""
                                                : "\"segy\"",
                              kind));
  }
  const Node value = node.at(kind, "the model");
  if (kind == "value") spec.number = value.number(any_number());
  if (kind == "npy") {
    spec.kind = ModelSpec::Kind::npy;
    spec.file = context.path(value);
  }
  if (kind == "raw") {
    spec.kind = ModelSpec::Kind::raw;
    spec.raw = parse_raw(node, grid, context);
  }
  if (kind == "segy") {
    spec.kind = ModelSpec::Kind::segy;
    spec.segy = parse_segy(node, grid, context);
  }
  parse_bounds(node, spec);
  return spec;
}

OutputSpec parse_output(const Node& node, ParseContext& context) {
  node.only({"directory", "records", "pictures", "snapshots"});
  OutputSpec output;
  if (const auto directory = node.find("directory")) output.directory = context.path(*directory);
  if (const auto records = node.find("records")) output.records = parse_record_format(*records);
  if (const auto pictures = node.find("pictures")) output.pictures = pictures->boolean();
  if (const auto snapshots = node.find("snapshots"); snapshots && snapshots->value() != false) {
    if (!snapshots->value().is_object()) snapshots->fail("false, or an object with \"field\" and \"every\"");
    snapshots->only({"field", "every"});
    SnapshotSpec spec;
    spec.field = parse_field(snapshots->at("field", "the name of the field to picture"));
    spec.every = snapshots->at("every", "the number of steps between two snapshots")
                     .integer(1, 1'000'000'000, "steps");
    output.snapshots = spec;
  }
  return output;
}

}  // namespace ondula::io
