// The ring of standalone sources: what undoing a step needs beside the layers, kept before that step.
// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include "compiler/emit/standalone_context.hpp"
#include "templates/templates.hpp"

namespace ondula::emit {
namespace {

std::string list(const ir::Depths& depths, int dims) {
  return fmt::format("{}", fmt::join(depths.begin(), depths.begin() + dims, ", "));
}

/// Of a second-order field what is one step before the present.
std::string kept(const StandaloneContext& c, const std::string& field) {
  const bool second = c.program().field(field).time_order == 2;
  return second ? c.written(c.forward, field) : c.current(field);
}

}  // namespace

std::string standalone_ring_members(const StandaloneContext& c) {
  if (!c.reverse) return "";
  std::string text = "  long long ring_size;  // elements of the ring that is kept before a step\n";
  for (const ir::Ring& ring : c.reverse->rings())
    text += fmt::format("  {}_box {}_ring[{}];\n", c.symbol(), plain_identifier(ring.field), 2 * c.dims());
  return text;
}

std::string standalone_ring_depths(const StandaloneContext& c) {
  if (!c.reverse) return "";
  const std::string p = c.symbol();
  std::string text = fmt::format(
      "// Beside absorbing faces a step back finds no more than what was kept before the step: of these "
      "fields "
      "the entries\n// from the outer depth to before the inner one, in half cells inwards of the model's "
      "outermost node. From the inner\n// one on every field is computed.\nenum {{\n");
  std::vector<std::string> constants;
  for (const ir::Ring& ring : c.reverse->rings()) {
    for (int a = 0; a < c.dims(); ++a) {
      const auto axis = static_cast<std::size_t>(a);
      const std::string name = fmt::format("{}_ring_{}_{}", p, plain_identifier(ring.field), c.axis(a));
      constants.push_back(fmt::format("  {}_outer = {}", name, ring.outer[axis]));
      constants.push_back(fmt::format("  {}_inner = {}", name, ring.inner[axis]));
    }
  }
  return text + fmt::format(
                    "{0}\n}};\n\n// Nodes lo <= node < hi along each axis, layers counted; in C order, from "
                    "element `first` of a ring on.\n"
                    "typedef struct {1}_box {{\n  long long lo[{2}];\n  long long hi[{2}];\n"
                    "  long long first;\n}} {1}_box;\n\n",
                    fmt::join(constants, ",\n"), p, c.dims());
}

std::string standalone_ring_functions(const StandaloneContext& c) {
  const std::string p = c.symbol();
  const char* const stream = c.cuda() ? ", (cudaStream_t)stream" : "";
  const char* const end = c.cuda() ? "  return (int)cudaGetLastError();\n}\n" : "}\n";
  std::string text =
      filled(c.cuda() ? templates::standalone_ring_cuda : templates::standalone_ring_host, {{"P", p}});
  const auto function = [&](const std::string& name, const std::string& type) {
    text += fmt::format("\nextern \"C\" {} {}(const {}_plan* plan, const {}_arrays* arrays, {}* ring{}) {{\n",
                        c.result(), name, p, p, type, c.stream_parameter());
  };
  function(p + "_keep_ring", c.real_name());
  for (const ir::Ring& ring : c.reverse->rings()) {
    text += fmt::format("  keep(*plan, plan->{}_ring, arrays->{}, ring{});\n", plain_identifier(ring.field),
                        kept(c, ring.field), stream);
  }
  text += end;
  for (const StandalonePart& part : c.reverse->parts) {
    if (part.rings.empty()) continue;
    function(c.launcher(*c.reverse, part), "const " + c.real_name());
    for (const ir::Ring& ring : part.rings) {
      text += fmt::format("  restore(*plan, plan->{}_ring, arrays->{}, ring{});\n",
                          plain_identifier(ring.field), c.written(*c.reverse, ring.field), stream);
    }
    text += end;
  }
  return text;
}

std::string standalone_ring_places(const StandaloneContext& c) {
  std::string text;
  if (!c.reverse) return text;
  for (const ir::Ring& ring : c.reverse->rings()) {
    text += fmt::format("  put_ring(*grid, {}, {{{}}}, {{{}}}, plan->{}_ring, plan->ring_size);\n",
                        StandaloneContext::description(*c.reverse, ring.field), list(ring.outer, c.dims()),
                        list(ring.inner, c.dims()), plain_identifier(ring.field));
  }
  return text;
}

}  // namespace ondula::emit
