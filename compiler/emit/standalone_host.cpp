// Host kernels of standalone sources: their text behind launchers, and where each piece acts.
// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>

#include "compiler/emit/host_text.hpp"
#include "compiler/emit/standalone_context.hpp"
#include "compiler/error.hpp"
#include "templates/templates.hpp"

namespace ondula::emit {
namespace {

/// Planes of the slowest axis that a sweep has in use at a time.
int planes_of(const ir::Kernel& kernel) {
  int streams = 0;
  for (const ir::Cost& cost : kernel.costs) streams = std::max(streams, cost.streams);
  return 2 * kernel.halo[0] + 1 + streams;
}

/// Calls of a sweep's text that cover the grid: in 3-D, tiles of rows go through all planes one after the
/// other.
std::string calls(const StandaloneContext& c, const std::string& name, const std::string& scalars,
                  int beyond) {
  const std::string begin = beyond > 0 ? fmt::format("-{}", beyond) : "0";
  const std::string more = beyond > 0 ? fmt::format(" + {}", beyond) : "";
  if (c.dims() == 1)
    return fmt::format("  const index tile[] = {{0}};\n  {0}(pointers, plan->{0}_places, {1}, tile);\n", name,
                       scalars);
  if (c.dims() == 2) {
    return fmt::format(
        "  const index rows = 16;  // of a block\n  const index tile[] = {{{2}, plan->total[0]{3}, rows}};\n"
        "  {0}(pointers, plan->{0}_places, {1}, tile);\n",
        name, scalars, begin, more);
  }
  const std::string last =
      beyond > 0 ? fmt::format("plan->{0}_ends[t] + (t + 1 == plan->{0}_tiles ? {1} : 0)", name, beyond)
                 : fmt::format("plan->{}_ends[t]", name);
  return fmt::format(
      "  index first = {2};\n  for (index t = 0; t < plan->{0}_tiles; ++t) {{\n"
      "    const index last = {4};\n"
      "    const index tile[] = {{{2}, plan->total[0]{3}, first, last, last - first}};\n"
      "    {0}(pointers, plan->{0}_places, {1}, tile);\n    first = last;\n  }}\n",
      name, scalars, begin, more, last);
}

/// Compilers warn of unused parameters.
std::string used_parameters(const StandaloneContext& c, const StandaloneStep& step,
                            const ir::Kernel& kernel) {
  const std::string text = c.array_parameters(step);
  const bool both = std::any_of(kernel.arrays.begin(), kernel.arrays.end(),
                                [&](const auto& a) { return c.array(step, a).holder == "arrays"; });
  return both ? text : "[[maybe_unused]] " + text;
}

std::string launcher(const StandaloneContext& c, const StandaloneStep& step, int sweep) {
  const ir::Kernel& kernel = step.set.kernels[static_cast<std::size_t>(sweep)];
  const std::string name = c.short_name(kernel.name);
  std::vector<std::string> pointers;
  for (const ir::ArrayArgument& a : kernel.arrays) {
    const bool full = a.kind == ir::ArrayKind::coefficient || (a.kind == ir::ArrayKind::field && a.side < 0);
    const StandaloneArray& array = c.array(step, a);
    pointers.push_back(array.holder + "->" + array.member + (full ? " + plan->origin" : ""));
  }
  return fmt::format(
      "\n{4}extern \"C\" void {0}(const {1}_plan* plan, {5}) {{\n"
      "  real* const pointers[] = {{\n      {2}}};\n{3}}}\n",
      c.launcher(step, sweep), c.symbol(), fmt::join(pointers, ",\n      "),
      calls(c, name, kernel.scalars.empty() ? "nullptr" : "plan->" + name + "_scalars",
            StandaloneContext::beyond(step, kernel)),
      c.changed_places(step), used_parameters(c, step, kernel));
}

std::string piece_text(const StandaloneStep& step, const ir::Piece& p) {
  static constexpr std::array<const char*, 3> regions = {"live", "strip", "apron"};
  static constexpr std::array<const char*, 4> roles = {"alone", "base", "fused", "correction"};
  std::vector<std::string> stores;
  for (const ir::Store& store : p.stores) stores.push_back(StandaloneContext::description(step, store.field));
  return fmt::format("{{Region::{}, {}, Role::{}, {{{}}}}}",
                     regions.at(static_cast<std::size_t>(p.region.kind)), p.region.axis,
                     roles.at(static_cast<std::size_t>(p.role)), fmt::join(stores, ", "));
}

/// The integer arguments of one sweep, as ArgumentLayout has them.
std::string places(const StandaloneContext& c, const StandaloneStep& step, const ir::Kernel& kernel) {
  const ArgumentLayout layout(kernel, c.dims());
  const std::string name = c.short_name(kernel.name);
  const std::string cut = StandaloneContext::cut(step);
  std::string out = fmt::format(
      "\nvoid place_{0}(const Grid* grid, Plan* plan) {{\n  index* const n = plan->{0}_places;\n", name);
  for (int axis = 0; axis < layout.outer(); ++axis)
    out += fmt::format("  n[{0}] = plan->stride[{0}];\n", axis);
  for (std::size_t i = 0; i < kernel.arrays.size(); ++i) {
    if (layout.strip(i) < 0) continue;
    out += fmt::format("  put_layout(n + {}, {});  // {}\n", layout.strip(i),
                       c.memory_layout(step, kernel.arrays[i]), kernel.arrays[i].identifier);
  }
  for (std::size_t i = 0; i < kernel.pieces.size(); ++i) {
    const ir::Piece& p = kernel.pieces[i];
    out += fmt::format("  // {}\n  const Piece piece{}{};\n", p.comment, i, piece_text(step, p));
    for (int side = 0; side < p.sides(); ++side)
      out += fmt::format("  put(n + {}, piece_box(*grid, {}, piece{}, {}));\n", layout.box(i, side), cut, i,
                         side);
    if (layout.core(i) >= 0)
      out += fmt::format("  put(n + {}, core_box(*grid, {}, piece{}));\n", layout.core(i), cut, i);
    if (layout.lives(i) >= 0)
      out += fmt::format("  put_lives(n + {}, *grid, piece{});\n", layout.lives(i), i);
  }
  if (c.dims() == 3) {
    std::vector<int> leads;
    for (const ir::Piece& p : kernel.pieces) {
      if (p.lead_axis == 1) leads.push_back(p.lead);
    }
    out += fmt::format("  plan->{0}_tiles = put_tiles(*grid, plan->{0}_ends, {1}, {{{2}}});\n", name,
                       planes_of(kernel), fmt::join(leads, ", "));
  }
  return out + "}\n";
}

}  // namespace

std::string standalone_host_kernels(const StandaloneContext& c, const StandaloneStep& step) {
  ir::KernelSet named = step.set;
  for (ir::Kernel& kernel : named.kernels) kernel.name = c.short_name(kernel.name);
  std::string text = host_text(named, c.real, false);
  for (const ir::Kernel& kernel : named.kernels) {
    const std::string head = "extern \"C\" void " + kernel.name + "(";
    const std::size_t at = text.find(head);
    if (at == std::string::npos) throw InternalError("the host text has no kernel " + kernel.name);
    text.replace(at, head.size(), "static void " + kernel.name + "(");
    const std::string scalars = "const real* scalars";
    if (kernel.scalars.empty()) text.replace(text.find(scalars, at), 0, "[[maybe_unused]] ");
  }
  text = fmt::format("// Written by Ondula {}.\n#include \"{}.h\"\n\n", c.names.version, c.base()) + text;
  text += filled(templates::standalone_images_host, {{"P", c.symbol()}});
  if (step.direction() == "forward") text += filled(templates::standalone_points_host, {{"P", c.symbol()}});
  for (const StandalonePart& part : step.parts) {
    if (part.sweep >= 0) text += launcher(c, step, part.sweep);
    if (part.images.empty()) continue;
    text += fmt::format("\nextern \"C\" void {}(const {}_plan* plan, {}{}) {{\n", c.launcher(step, part),
                        c.symbol(), step.adjoint() ? "[[maybe_unused]] " : "", c.array_parameters(step));
    for (const std::string& field : part.images)
      text += fmt::format("  repeat(*plan, plan->{}, {}->{});\n", StandaloneContext::images(step, field),
                          step.adjoint() ? "adjoint" : "arrays", c.written(step, field));
    text += "}\n";
  }
  if (step.keeping()) text += standalone_kept_functions(c);
  return step.back() ? text + standalone_ring_functions(c) : text;
}

std::string standalone_host_places(const StandaloneContext& c, const StandaloneStep& step) {
  std::string out;
  for (const ir::Kernel& kernel : step.set.kernels) out += places(c, step, kernel);
  return out;
}

std::vector<std::string> standalone_places(const StandaloneContext& c, const StandaloneStep& step) {
  std::vector<std::string> names;
  if (!c.cuda()) {
    for (const ir::Kernel& kernel : step.set.kernels) names.push_back(c.short_name(kernel.name));
  } else {
    for (const ir::CudaKernel& kernel : step.cuda->kernels) names.push_back(c.short_name(kernel.name));
  }
  return names;
}

std::string standalone_plan_members(const StandaloneContext& c, const StandaloneStep& step) {
  std::string text;
  for (const ir::Kernel& kernel : step.set.kernels) {
    const std::string name = c.short_name(kernel.name);
    if (!c.cuda())
      text += fmt::format("  long long {}_places[{}];\n", name, ArgumentLayout(kernel, c.dims()).size());
    if (!c.cuda() && c.dims() == 3) {
      text += fmt::format("  long long {0}_tiles;\n  long long {0}_ends[64];  // rows at which tiles end\n",
                          name);
    }
    if (!kernel.scalars.empty())
      text += fmt::format("  {} {}_scalars[{}];  // {}\n", c.real_name(), name, kernel.scalars.size(),
                          fmt::join(kernel.scalars, ", "));
  }
  if (!c.cuda()) return text;
  for (const ir::CudaKernel& kernel : step.cuda->kernels) {
    const std::string name = c.short_name(kernel.name);
    text += fmt::format("  long long {0}_bounds[{1}];\n  unsigned {0}_blocks[3];\n", name,
                        kernel.arguments.size());
  }
  return text;
}

}  // namespace ondula::emit
