// Rows by vectors.
// SPDX-License-Identifier: MIT
#include "compiler/emit/host_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "compiler/emit/live_text.hpp"

namespace ondula::emit {

using ir::ArrayArgument;

RowPrinter::RowPrinter(const ir::Program& program, const ir::Kernel& kernel, Real real)
    : HostNames(program), kernel_(kernel), real_(real) {
  choose_askers();
}

std::string RowPrinter::row(std::size_t number, const std::vector<std::string>& parameters) {
  const ir::Piece& p = kernel_.pieces[number];
  if (p.lead_axis == inner()) return at_function(number, parameters);
  // A mixed base's row is long and stands in its block and in its core: a function of its own compiles once.
  const bool apart = p.mixed && p.role == ir::Role::base;
  std::string out = fmt::format("\n// {}: {}\n{} void {}_piece{}_row(\n    {}) {{\n", p.location.short_text(),
                                p.comment, apart ? "ONDULA_BLOCK" : "ONDULA_ROW", kernel_.name, number,
                                fmt::join(parameters, ",\n    "));
  std::string ahead, moved;
  shifted_ = !p.within.empty();
  if (shifted_) out += "  if (begin >= end) return;\n";
  for (const int w : p.within) {
    const std::string& name = kernel_.pieces[static_cast<std::size_t>(w)].stores[0].array;
    windows_.push_back(name);
    out += fmt::format("  lanes {}_before = get({} + begin - {});\n  lanes {}_here = {};\n", name, name,
                       lanes(), name, within(static_cast<std::size_t>(w), "begin", "end - begin"));
    ahead += fmt::format("    const lanes {}_after = count > {} ? {} : get({} + i + {});\n", name, lanes(),
                         within(static_cast<std::size_t>(w), "i + " + lanes(), "count - " + lanes()), name,
                         lanes());
    moved += fmt::format("    {0}_before = {0}_here;\n    {0}_here = {0}_after;\n", name);
  }
  const std::string asks = ask_ahead(number);
  if (!asks.empty()) {
    out += "  const index rows = rows_on(begin, end);\n  const index along = rows == 0 ? 512 : 0;\n";
  }
  if (p.mixed) out += keep_edges(p, inner() + 1);
  out += fmt::format(
      "  for (index i = begin; i < end; i += {}) {{\n    const index count = end - i;\n{}{}{}{}  }}\n",
      lanes(), asks, ahead, body(p), moved);
  windows_.clear();
  shifted_ = false;
  if (p.mixed) out += restore_edges(p, inner() + 1);
  return out + "}\n";
}

std::string RowPrinter::value(ir::Expr e) const {
  return expression(e, real_, [this](const ir::Node& node) { return access(node); });
}

std::string RowPrinter::lets(const ir::Piece& p, const std::string& indent) const {
  std::string out;
  for (const ir::Let& let : p.lets)
    out += fmt::format("{}const auto {} = {};\n", indent, let.name, value(let.value));
  return out;
}

/// Lets and stores of the vector at i, of which `count` lanes lie in the row.
std::string RowPrinter::body(const ir::Piece& p) const {
  std::string out = lets(p, "    ");
  for (const ir::Store& store : p.stores)
    out += fmt::format("    put({} + i, wide({}), count);\n", store.array, value(store.value));
  return out;
}

std::string RowPrinter::at_function(std::size_t number, const std::vector<std::string>& parameters) {
  const ir::Piece& p = kernel_.pieces[number];
  std::vector<std::string> declared(parameters.begin(), parameters.end() - 2);
  declared.emplace_back("const index i");
  declared.emplace_back("const index count");
  shifted_ = true;
  std::string out =
      fmt::format("\n// {}: {}, a vector of it\nONDULA_ROW lanes {}_piece{}_at(\n    {}) {{\n",
                  p.location.short_text(), p.comment, kernel_.name, number, fmt::join(declared, ",\n    "));
  out += lets(p, "  ");
  const ir::Store& store = p.stores[0];
  out +=
      fmt::format("  const lanes value = keep({}, get({} + i), count);\n", value(store.value), store.array);
  shifted_ = false;
  return out + fmt::format("  put({} + i, value, count);\n  return value;\n}}\n", store.array);
}

/// The call that computes a vector of a piece within another's row.
std::string RowPrinter::within(std::size_t number, const std::string& first, const std::string& count) const {
  return fmt::format("{}_piece{}_at({}, {}, {})", kernel_.name, number,
                     fmt::join(passed_on(kernel_, kernel_.pieces[number]), ", "), first, count);
}

std::string RowPrinter::access(const ir::Node& node) const {
  if (node.kind == ir::Kind::profile)
    return node.axis == inner() ? fmt::format("get({} + i)", node.name) : node.name;
  const ArrayArgument& a = argument(kernel_, node.name);
  const int along = node.offset[static_cast<std::size_t>(inner())];
  if (std::find(windows_.begin(), windows_.end(), node.name) != windows_.end())
    return fmt::format("tap<{}>({}_before, {}_here, {}_after)", along, node.name, node.name, node.name);
  std::string at = node.name + " + i";
  bool outer_offset = false;
  for (int axis = 0; axis <= inner(); ++axis) {
    const int cells = node.offset[static_cast<std::size_t>(axis)];
    if (cells == 0) continue;
    outer_offset |= axis < inner();
    const int size = cells < 0 ? -cells : cells;
    const std::string step = axis == inner() ? std::to_string(size)
                             : size == 1     ? stride(a, axis, a.local)
                                             : fmt::format("{} * {}", size, stride(a, axis, a.local));
    at += fmt::format(" {} {}", cells < 0 ? '-' : '+', step);
  }
  // In rows that also compute a memory variable most loads would cross cache lines.
  if (shifted_ && along != 0 && !outer_offset) return fmt::format("near<{}>({} + i)", along, node.name);
  return fmt::format("get({})", at);
}

RowPrinter::Foremost RowPrinter::foremost_of(const ir::Piece& p) {
  Foremost foremost;
  ir::each_access(p, [&](ir::Expr e) {
    int& cells = foremost.try_emplace(e->name, 0).first->second;
    cells = std::max(cells, e->offset[0]);
  });
  for (const ir::Store& store : p.stores) foremost.try_emplace(store.array, 0);
  return foremost;
}

/// Which of several plain pieces asks for an array that more than one of them reads: the one that reads it
/// foremost. None where there is one plain piece.
void RowPrinter::choose_askers() {
  Foremost most;
  std::size_t plain = 0;
  for (std::size_t p = 0; p < kernel_.pieces.size(); ++p) {
    const ir::Piece& piece = kernel_.pieces[p];
    if (piece.region.kind != ir::RegionKind::live) continue;
    ++plain;
    for (const auto& [name, cells] : foremost_of(piece)) {
      const auto known = most.find(name);
      if (known != most.end() && known->second >= cells) continue;
      most[name] = cells;
      askers_[name] = p;
    }
  }
  if (plain < 2) askers_.clear();
}

/// Asks for the lines that this piece will read from memory soon: of each array in the foremost row it reads,
/// two rows on. Tens of streams defeat the processor's own prefetching.
std::string RowPrinter::ask_ahead(std::size_t number) {
  if (row_axis() < 0) return "";
  std::string out;
  const ir::Piece& p = kernel_.pieces[number];
  const std::size_t plain = p.role == ir::Role::fused ? static_cast<std::size_t>(p.base) : number;
  for (const auto& [name, cells] : foremost_of(p)) {
    const auto asker = askers_.find(name);
    if (asker != askers_.end() && asker->second != plain) continue;
    const ArrayArgument& a = argument(kernel_, name);
    std::string at = name;
    for (int o = 0; o < inner(); ++o) {
      const int count = o == 0 ? cells : 0;
      const std::string steps = o != row_axis() ? (count == 1 ? "" : std::to_string(count))
                                : count == 0    ? "rows"
                                                : fmt::format("({} + rows)", count);
      if (o != row_axis() && count == 0) continue;
      at += fmt::format(" + {}{}{}", steps, steps.empty() ? "" : " * ", stride(a, o, name));
    }
    out += fmt::format("    ask({} + along + i);\n", at);
  }
  return out;
}

}  // namespace ondula::emit
