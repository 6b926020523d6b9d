// Keys of the job file whose feature comes later: their form is checked, and what they ask for is refused.
// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include "runtime/io/job_sections.hpp"
#include "runtime/io/suggest.hpp"

namespace ondula::io {

namespace {

void check_stages(const Node& node) {
  if (!node.value().is_array()) node.fail("a list of stages, each with \"band\" and \"iterations\"");
  for (const Node& stage : node.items()) {
    stage.only({"band", "iterations"});
    if (const auto band = stage.find("band")) parse_band(*band);
    if (const auto iterations = stage.find("iterations")) iterations->integer(0, 1'000'000);
  }
}

void check_invert(const Node& node) {
  node.only({"parameters", "bounds", "stages", "mask", "smoothing", "preconditioner"});
  if (const auto parameters = node.find("parameters")) parse_names(*parameters, "parameter names");
  if (const auto bounds = node.find("bounds")) bounds->members();
  if (const auto stages = node.find("stages")) check_stages(*stages);
}

/// True where the mesh asks for more than the one process there is.
bool check_mesh(const Node& node, const Grid& grid) {
  if (node.value() == "auto") return false;
  std::vector<std::string> names = grid.axes;
  names.emplace_back("shots");
  if (!node.value().is_object()) node.fail("\"auto\", or an object with " + list_of(names));
  node.only(names);
  bool many = false;
  for (const auto& [name, count] : node.members()) many = count.integer(1, 1'000'000) > 1 || many;
  return many;
}

}  // namespace

void parse_later(const Node& root, const Grid& grid, ParseContext& context) {
  if (const auto invert = root.find("invert")) {
    check_invert(*invert);
    context.refuse_later(*invert);
  }
  if (const auto mesh = root.find("mesh"); mesh && check_mesh(*mesh, grid)) {
    context.refuse_later(*mesh, "one process runs the job: every count is 1");
  }
}

}  // namespace ondula::io
