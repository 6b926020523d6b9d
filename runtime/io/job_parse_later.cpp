// Keys of the job file whose feature comes later: their form is checked, and what they ask for is refused.
// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include "runtime/io/job_sections.hpp"
#include "runtime/io/suggest.hpp"

namespace ondula::io {

namespace {

void check_texts(const Node& node, const std::string& what) {
  if (!node.value().is_array()) node.fail("a list of " + what);
  for (const Node& item : node.items()) item.text();
}

/// [low, high] in Hz.
void check_band(const Node& node) {
  if (!node.value().is_array() || node.value().size() != 2) node.fail("[low, high], in Hz");
  const auto items = node.items();
  Range high = positive_number("Hz");
  high.low = items[0].number(nonnegative_number("Hz"));
  items[1].number(high);
}

void check_misfit(const Node& node) {
  const std::vector<std::string> kinds = {"l2", "correlation", "envelope"};
  if (node.value().is_string()) {
    node.choice(kinds);
    return;
  }
  node.only({"kind", "mute", "band"});
  if (const auto kind = node.find("kind")) kind->choice(kinds);
  if (const auto band = node.find("band")) check_band(*band);
}

void check_gradient(const Node& node) {
  node.only({"parameters", "wavelet", "initial", "extent"});
  if (const auto parameters = node.find("parameters")) check_texts(*parameters, "parameter names");
  if (const auto wavelet = node.find("wavelet")) wavelet->boolean();
  if (const auto initial = node.find("initial")) initial->boolean();
  if (const auto extent = node.find("extent")) extent->choice({"model", "interior"});
}

void check_stages(const Node& node) {
  if (!node.value().is_array()) node.fail("a list of stages, each with \"band\" and \"iterations\"");
  for (const Node& stage : node.items()) {
    stage.only({"band", "iterations"});
    if (const auto band = stage.find("band")) check_band(*band);
    if (const auto iterations = stage.find("iterations")) iterations->integer(0, 1'000'000);
  }
}

void check_invert(const Node& node) {
  node.only({"parameters", "bounds", "stages", "mask", "smoothing", "preconditioner"});
  if (const auto parameters = node.find("parameters")) check_texts(*parameters, "parameter names");
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
  if (const auto observed = root.find("observed")) {
    for (const auto& [field, file] : observed->members()) file.text();
    context.refuse_later(*observed);
  }
  if (const auto misfit = root.find("misfit")) {
    check_misfit(*misfit);
    context.refuse_later(*misfit);
  }
  if (const auto gradient = root.find("gradient")) {
    check_gradient(*gradient);
    context.refuse_later(*gradient);
  }
  if (const auto born = root.find("born")) {
    for (const auto& [name, perturbation] : born->members()) parse_model(perturbation, grid, context);
    context.refuse_later(*born);
  }
  if (const auto invert = root.find("invert")) {
    check_invert(*invert);
    context.refuse_later(*invert);
  }
  if (const auto mesh = root.find("mesh"); mesh && check_mesh(*mesh, grid)) {
    context.refuse_later(*mesh, "one process runs the job: every count is 1");
  }
}

}  // namespace ondula::io
