// The job's "geometry" and "output.records": what is read from SEG-Y and SU files, and written to them.
// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include "runtime/io/job_sections.hpp"

namespace ondula::io {

namespace {

/// A node's object with members that complete it to an entry of the lists; the copy must outlive its nodes.
nlohmann::ordered_json completed(const std::optional<Node>& node, const Grid& grid) {
  nlohmann::ordered_json entry = node ? node->value() : nlohmann::ordered_json::object();
  nlohmann::ordered_json cell = nlohmann::ordered_json::object();
  for (const std::string& axis : grid.axes) cell[axis] = 0;
  entry["at"] = {{"cell", cell}};
  return entry;
}

/// Refuses what the file says.
void check_template(const Node& node, const std::vector<std::string>& taken) {
  if (!node.value().is_object()) node.fail("an object, as an entry of the list without its positions");
  for (const std::string& key : taken) {
    if (const auto found = node.find(key)) found->refuse("the file says it; it cannot stand in \"geometry\"");
  }
}

void parse_source_template(const std::optional<Node>& node, const Grid& grid, ParseContext& context,
                           GeometrySpec& spec) {
  if (node) check_template(*node, {"shot", "at"});
  nlohmann::ordered_json entry = completed(node, grid);
  spec.default_source_field =
      !entry.contains("field") && (!entry.contains("kind") || entry["kind"] == "point");
  if (spec.default_source_field) entry["field"] = "default";
  spec.source = parse_source(Node(entry, "geometry.source"), grid, context);
  if (spec.default_source_field) spec.source.field.clear();
}

ReceiverSpec parse_receiver_template(const std::optional<Node>& node, const std::string& path,
                                     const Grid& grid) {
  if (node) check_template(*node, {"at", "line", "plane", "shots"});
  nlohmann::ordered_json entry = completed(node, grid);
  const bool given = entry.contains("field");
  if (!given) entry["field"] = "default";
  ReceiverSpec receiver = parse_receiver(Node(entry, path), grid);
  receiver.points.clear();
  if (!given) receiver.field.clear();
  return receiver;
}

std::vector<std::string> parse_horizontal(const Node& node) {
  const std::string allowed = R"(["x","y"] or ["y","x"]: the file's axes for the grid's x and y)";
  if (!node.value().is_array() || node.value().size() != 2) node.fail(allowed);
  const auto items = node.items();
  std::vector<std::string> axes = {items[0].choice({"x", "y"}), items[1].choice({"x", "y"})};
  if (axes[0] == axes[1]) node.fail(allowed);
  return axes;
}

}  // namespace

GeometrySpec parse_geometry(const Node& node, const Grid& grid, bool job_wavelet, ParseContext& context) {
  node.only({"segy", "endian", "unit", "vertical", "horizontal", "source", "receiver"});
  GeometrySpec spec;
  spec.file = context.path(node.at("segy", "the path of a SEG-Y or SU file"));
  if (const auto endian = node.find("endian")) spec.big_endian = endian->choice({"little", "big"}) == "big";
  if (const auto unit = node.find("unit")) spec.unit = unit->choice({"m", "ft"});
  if (const auto vertical = node.find("vertical"))
    spec.depths = vertical->choice({"elevation", "depth"}) == "depth";
  if (const auto horizontal = node.find("horizontal")) spec.horizontal = parse_horizontal(*horizontal);
  parse_source_template(node.find("source"), grid, context, spec);
  if (!job_wavelet && !spec.source.wavelet)
    node.refuse("its sources have no wavelet; give \"source\" a \"wavelet\", or the whole job one");
  const auto receiver = node.find("receiver");
  if (!receiver || !receiver->value().is_array()) {
    spec.receivers.push_back(parse_receiver_template(receiver, node.path_of("receiver"), grid));
  } else {
    for (const Node& item : receiver->items())
      spec.receivers.push_back(parse_receiver_template(item, item.path(), grid));
  }
  return spec;
}

RecordFormat parse_record_format(const Node& node) {
  const std::vector<std::string> kinds = {"npy", "segy", "su"};
  RecordFormat format;
  const bool object = node.value().is_object();
  if (object) node.only({"format", "samples", "endian"});
  const std::string kind =
      object ? node.at("format", R"("npy", "segy" or "su")").choice(kinds) : node.choice(kinds);
  if (kind == "segy") format.kind = RecordFormat::Kind::segy;
  if (kind == "su") format.kind = RecordFormat::Kind::su;
  if (!object) return format;
  if (const auto samples = node.find("samples")) {
    format.ibm = samples->choice({"ieee", "ibm"}) == "ibm";
    if (kind != "segy")
      samples->refuse(fmt::format("this key belongs to \"segy\"; the format is \"{}\"", kind));
  }
  if (const auto endian = node.find("endian")) {
    format.big_endian = endian->choice({"big", "little"}) == "big";
    if (kind != "su") endian->refuse(fmt::format("this key belongs to \"su\"; the format is \"{}\"", kind));
  }
  return format;
}

nlohmann::ordered_json write_record_format(const RecordFormat& format) {
  if (format.kind == RecordFormat::Kind::npy) return "npy";
  if (format.kind == RecordFormat::Kind::segy)
    return {{"format", "segy"}, {"samples", format.ibm ? "ibm" : "ieee"}};
  return {{"format", "su"}, {"endian", format.big_endian ? "big" : "little"}};
}

}  // namespace ondula::io
