// The job's models, memory limits and outputs.
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

std::int64_t parse_bytes(const Node& node) {
  constexpr double most = 9007199254740992.0;  // 2^53
  const std::string allowed = R"(a size > 0: a whole number of bytes, or text as "8 GiB", "500 MB")";
  if (node.value().is_number()) return node.integer(1, static_cast<std::int64_t>(most), "bytes");
  if (!node.value().is_string()) node.fail(allowed);
  const std::string text = node.value().get<std::string>();
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || !(number > 0)) node.fail(allowed);
  std::string unit(end, text.data() + text.size());
  unit.erase(0, std::min(unit.find_first_not_of(' '), unit.size()));
  static const std::map<std::string, double> units = {
      {"B", 1.0},         {"kB", 1e3},           {"MB", 1e6},
      {"GB", 1e9},        {"TB", 1e12},          {"KiB", 1024.0},
      {"MiB", 1048576.0}, {"GiB", 1073741824.0}, {"TiB", 1099511627776.0}};
  const auto factor = units.find(unit);
  if (factor == units.end()) node.fail(allowed + " (units: B, kB, MB, GB, TB, KiB, MiB, GiB, TiB)");
  const double bytes = std::floor(number * factor->second);
  if (bytes < 1 || bytes > most) node.fail(allowed);
  return static_cast<std::int64_t>(bytes);
}

MemorySpec parse_memory(const Node& node, ParseContext& context) {
  node.only({"mode", "segments", "slots", "every", "tier", "codec", "limits", "scratch", "shot_batch"});
  MemorySpec memory;
  const std::string why = "a gradient's history is kept in full, in memory";
  std::string mode = "auto";
  if (const auto word = node.find("mode")) {
    mode = word->choice({"auto", "full", "boundary", "segments", "revolve", "none"});
    if (mode != "auto" && mode != "full" && mode != "none") context.refuse_later(*word, why);
  }
  if (mode == "none") memory.mode = MemorySpec::Mode::none;
  if (mode == "full") memory.mode = MemorySpec::Mode::full;
  for (const char* key : {"segments", "slots"}) {
    if (const auto count = node.find(key)) {
      count->integer(1, 1'000'000'000);
      context.refuse_later(*count, why);
    }
  }
  if (const auto every = node.find("every"); every && every->integer(1, 1'000'000'000, "steps") != 1) {
    context.refuse_later(*every, why);
  }
  if (const auto tier = node.find("tier")) {
    tier->choice({"device", "host", "disk"});
    context.refuse_later(*tier, why);
  }
  if (const auto codec = node.find("codec");
      codec && codec->choice({"none", "fp16", "bf16", "int8", "int16"}) != "none") {
    context.refuse_later(*codec, why);
  }
  if (const auto scratch = node.find("scratch")) {
    scratch->text();
    context.refuse_later(*scratch, why);
  }
  if (const auto batch = node.find("shot_batch"); batch && batch->value() != "auto") {
    if (!batch->value().is_number()) batch->fail(R"("auto", or a whole number of shots from 1 on)");
    memory.shot_batch = static_cast<int>(batch->integer(1, 1'000'000, "shots"));
  }
  if (const auto limits = node.find("limits")) {
    limits->only({"device", "host", "disk"});
    for (const auto& [tier, size] : limits->members()) memory.limits[tier] = parse_bytes(size);
  }
  return memory;
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
