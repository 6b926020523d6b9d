// Rows, blocks of rows, and blocks whose ends lie in the innermost layer.
// SPDX-License-Identifier: MIT
#include "compiler/emit/host_pieces.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "compiler/emit/host_rows.hpp"
#include "compiler/emit/live_text.hpp"
#include "compiler/error.hpp"

namespace ondula::emit {
namespace {

using ir::ArrayArgument;
using ir::ArrayKind;

class PiecePrinter : HostNames {
 public:
  PiecePrinter(const ir::Program& program, Real real) : HostNames(program), real_(real) {}

  std::string print(const ir::Kernel& kernel) {
    RowPrinter rows(program(), kernel, real_);
    rows_ = &rows;
    for (std::size_t p = 0; p < kernel.pieces.size(); ++p) {
      const ir::Piece& piece_of = kernel.pieces[p];
      if (piece_of.role != ir::Role::correction || piece_of.region.axis != 0) piece(kernel, p);
    }
    for (std::size_t p = 0; p < kernel.pieces.size(); ++p) {
      const ir::Piece& fused = kernel.pieces[p];
      if (fused.role == ir::Role::fused && fused.region.axis == inner()) {
        core_block(kernel, static_cast<std::size_t>(fused.base), p);
      }
    }
    return std::move(out_);
  }

 private:
  /// A piece is a function of one row, and one of a block of rows around it, which keeps scalars in registers
  /// from row to row.
  std::vector<std::string> parameters(const ir::Kernel& kernel, const ir::Piece& p, bool block) const {
    std::vector<std::string> result;
    for (const std::string& name : p.arrays) {
      const ArrayArgument& a = argument(kernel, name);
      if (a.kind == ArrayKind::profile && a.axis != inner()) {
        const bool pointer = block && a.axis == row_axis();
        result.push_back(fmt::format("const real{} {}", pointer ? "*" : "", name));
        continue;
      }
      result.push_back(fmt::format("{}real* __restrict {}", a.written ? "" : "const ", name));
      for (int o = 0; is_strip(a) && o < inner(); ++o) {
        result.push_back("[[maybe_unused]] const index " + stride(a, o, a.local));
      }
    }
    for (int o = 0; o < inner(); ++o) result.push_back("[[maybe_unused]] const index s_" + axis(o));
    for (const std::string& s : p.scalars) result.push_back("const real " + s);
    if (p.mixed) result.emplace_back("const index* lives");
    if (p.mixed && block) {
      for (int o = 0; o < row_axis(); ++o) result.push_back("const index " + axis(o));
      result.emplace_back("const bool checked");
    }
    if (block) {
      result.emplace_back("const index first");
      result.emplace_back("const index last");
    }
    result.emplace_back("const index begin");
    result.emplace_back("const index end");
    return result;
  }

  void piece(const ir::Kernel& kernel, std::size_t number) {
    out_ += rows_->row(number, parameters(kernel, kernel.pieces[number], false));
    const bool within = kernel.pieces[number].lead_axis == inner();
    if (row_axis() >= 0 && !within) block(kernel, number);
  }

  void block(const ir::Kernel& kernel, std::size_t number) {
    const ir::Piece& p = kernel.pieces[number];
    const std::string r = axis(row_axis());
    std::vector<std::string> values;
    for (const std::string& name : p.arrays) {
      const ArrayArgument& a = argument(kernel, name);
      if (a.kind == ArrayKind::profile) {
        values.push_back(a.axis == row_axis() ? fmt::format("{}[{}]", name, r) : name);
        continue;
      }
      values.push_back(fmt::format("{} + {} * {}", name, r, stride(a, row_axis(), a.local)));
      for (int o = 0; is_strip(a) && o < inner(); ++o) values.push_back(stride(a, o, a.local));
    }
    for (int o = 0; o < inner(); ++o) values.push_back("s_" + axis(o));
    values.insert(values.end(), p.scalars.begin(), p.scalars.end());
    if (p.mixed) values.emplace_back("lives");
    const std::string partial = p.mixed ? partial_row_of(kernel, number) : "";
    if (p.mixed) out_ += partial.substr(0, partial.find(" {\n")) + ";\n";
    out_ += fmt::format(
        "\nONDULA_BLOCK void {}_piece{}(\n    {}) {{\n  for (index {} = first; {} < last; ++{}) {{\n",
        kernel.name, number, fmt::join(parameters(kernel, p, true), ",\n    "), r, r, r);
    if (p.mixed) out_ += partial_call(kernel, number);
    out_ += fmt::format("    {}_piece{}_row({}, begin, end);\n  }}\n}}\n{}", kernel.name, number,
                        fmt::join(values, ", "), partial);
  }

  std::vector<std::string> outer_axes() const {
    std::vector<std::string> result;
    for (int o = 0; o < inner(); ++o) result.push_back(axis(o));
    return result;
  }

  /// Inside a block: a row on which some stores do not live is another function's.
  std::string partial_call(const ir::Kernel& kernel, std::size_t number) const {
    return fmt::format(
        "    if (checked && !({})) {{\n      {}_piece{}_partial({}, lives, {}, begin, end);\n"
        "      continue;\n    }}\n",
        all_live(outer_axes()), kernel.name, number,
        fmt::join(passed_on(kernel, kernel.pieces[number]), ", "), fmt::join(outer_axes(), ", "));
  }

  std::string partial_row_of(const ir::Kernel& kernel, std::size_t number) const {
    const ir::Piece& p = kernel.pieces[number];
    LiveNames names{fmt::format("{}_piece{}", kernel.name, number),
                    parameters(kernel, p, true),
                    passed_on(kernel, p),
                    {},
                    outer_axes()};
    for (const ir::Store& store : p.stores) {
      const std::string step = stride(argument(kernel, store.array), row_axis(), store.array);
      names.rows.push_back(fmt::format("{} + {} * {}", store.array, axis(row_axis()), step));
    }
    return partial_row(p, names);
  }

  /// A block of rows whose ends lie in the innermost layer: minus strip, the row between, plus strip, row by
  /// row, so that memory streams along whole rows.
  void core_block(const ir::Kernel& kernel, std::size_t base, std::size_t fused) {
    std::vector<std::string> declared = {"const index first", "const index last"};
    for (std::string& parameter : core_arguments(kernel, base, fused, true))
      declared.push_back(std::move(parameter));
    for (const char* span : {"low", "middle", "high"}) {
      declared.push_back(fmt::format("const index begin_{}", span));
      declared.push_back(fmt::format("const index end_{}", span));
    }
    const std::string r = axis(row_axis());
    out_ += fmt::format(
        "\nONDULA_BLOCK void {}_core{}(\n    {}) {{\n  for (index {} = first; {} < last; ++{}) {{\n",
        kernel.name, base, fmt::join(declared, ",\n    "), r, r, r);
    const std::array<std::pair<std::size_t, int>, 3> order = {{{fused, 0}, {base, 0}, {fused, 1}}};
    static constexpr std::array<const char*, 3> names = {"low", "middle", "high"};
    for (std::size_t k = 0; k < order.size(); ++k) {
      const auto [number, side] = order[k];
      std::vector<std::string> values;
      for (const std::string& name : kernel.pieces[number].arrays) {
        const ArrayArgument& a = argument(kernel, name, side);
        if (a.kind == ArrayKind::profile) {
          values.push_back(a.axis == row_axis() ? fmt::format("{}[{}]", name, r) : name);
          continue;
        }
        values.push_back(fmt::format("{} + {} * {}", a.identifier, r, stride(a, row_axis(), a.identifier)));
        for (int o = 0; is_strip(a) && o < inner(); ++o) values.push_back(stride(a, o, a.identifier));
      }
      for (int o = 0; o < inner(); ++o) values.push_back("s_" + axis(o));
      values.insert(values.end(), kernel.pieces[number].scalars.begin(), kernel.pieces[number].scalars.end());
      if (kernel.pieces[number].mixed) values.push_back(fmt::format("lives{}", number));
      out_ += fmt::format("    {}_piece{}_row({}, begin_{}, end_{});\n", kernel.name, number,
                          fmt::join(values, ", "), names[k], names[k]);
    }
    out_ += "  }\n}\n";
  }

  Real real_;
  std::string out_;
  RowPrinter* rows_ = nullptr;
};

}  // namespace

const ArrayArgument& HostNames::argument(const ir::Kernel& kernel, const std::string& local, int side) {
  for (const ArrayArgument& a : kernel.arrays) {
    if (a.local == local && (a.side < 0 || a.side == side)) return a;
  }
  throw InternalError("kernel " + kernel.name + " has no array " + local);
}

std::vector<std::string> HostNames::passed_on(const ir::Kernel& kernel, const ir::Piece& p) const {
  std::vector<std::string> values;
  for (const std::string& name : p.arrays) {
    const ArrayArgument& a = argument(kernel, name);
    values.push_back(name);
    for (int o = 0; is_strip(a) && o < inner(); ++o) values.push_back(stride(a, o, a.local));
  }
  for (int o = 0; o < inner(); ++o) values.push_back("s_" + axis(o));
  values.insert(values.end(), p.scalars.begin(), p.scalars.end());
  return values;
}

std::vector<std::string> HostNames::core_arguments(const ir::Kernel& kernel, std::size_t base,
                                                   std::size_t fused, bool declared) const {
  std::vector<std::string> result;
  std::set<std::string> locals(kernel.pieces[base].arrays.begin(), kernel.pieces[base].arrays.end());
  locals.insert(kernel.pieces[fused].arrays.begin(), kernel.pieces[fused].arrays.end());
  for (const ArrayArgument& a : kernel.arrays) {
    if (!locals.contains(a.local)) continue;
    if (declared) {
      result.push_back(fmt::format("{}real* {}", a.written ? "" : "const ", a.identifier));
    } else if (a.kind == ArrayKind::profile) {
      result.push_back(a.axis >= row_axis() ? a.identifier
                                            : fmt::format("{}[{}]", a.identifier, axis(a.axis)));
    } else {
      std::string at = a.identifier;
      for (int o = 0; o < row_axis(); ++o)
        at += fmt::format(" + {} * {}", axis(o), stride(a, o, a.identifier));
      result.push_back(at);
    }
    for (int o = 0; is_strip(a) && o < inner(); ++o) {
      result.push_back((declared ? "[[maybe_unused]] const index " : "") + stride(a, o, a.identifier));
    }
  }
  for (int o = 0; o < inner(); ++o) {
    result.push_back((declared ? "[[maybe_unused]] const index s_" : "s_") + axis(o));
  }
  std::set<std::string> scalars(kernel.pieces[base].scalars.begin(), kernel.pieces[base].scalars.end());
  scalars.insert(kernel.pieces[fused].scalars.begin(), kernel.pieces[fused].scalars.end());
  for (const std::string& scalar : scalars) result.push_back((declared ? "const real " : "") + scalar);
  const ArgumentLayout layout(kernel, program_.dims());
  for (const std::size_t number : {base, fused}) {
    if (!kernel.pieces[number].mixed) continue;
    result.push_back(declared ? fmt::format("const index* lives{}", number)
                              : fmt::format("n + {}", layout.lives(number)));
  }
  return result;
}

std::string host_pieces(const ir::Program& program, const ir::Kernel& kernel, Real real) {
  return PiecePrinter(program, real).print(kernel);
}

}  // namespace ondula::emit
