// Freestanding C++ for the host.
// SPDX-License-Identifier: MIT
#include "compiler/emit/host_text.hpp"

#include <fmt/format.h>

#include "compiler/emit/expression.hpp"
#include "compiler/error.hpp"
#include "templates/templates.hpp"

namespace ondula::emit {
namespace {

using ir::ArrayArgument;
using ir::ArrayKind;

std::string replaced(std::string text, const std::string& what, const std::string& with) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size())) {
    text.replace(at, what.size(), with);
  }
  return text;
}

class HostPrinter {
 public:
  HostPrinter(const ir::KernelSet& set, Real real) : set_(set), program_(set.program), real_(real) {}

  std::string print() {
    header();
    for (const ir::Kernel& kernel : set_.kernels) {
      for (std::size_t p = 0; p < kernel.pieces.size(); ++p) {
        const ir::Piece& piece_of = kernel.pieces[p];
        if (piece_of.role != ir::Role::correction || piece_of.region.axis != 0) piece(kernel, p);
      }
      entry(kernel);
    }
    return std::move(out_);
  }

 private:
  void header() {
    out_ += fmt::format("// {}, {}, axes {}, order {}, {}.\n// {}\n//\n", program_.equation,
                        program_.direction, fmt::join(program_.axes, " "), program_.order,
                        real_ == Real::float32 ? "float32" : "float64", program_.description);
    for (const ir::Coefficient& c : program_.coefficients) {
      out_ += fmt::format("// {} = {}\n", c.name, text(c.definition, program_.axes));
    }
    for (const ir::Scalar& s : program_.scalars) {
      out_ += fmt::format("// {} = {}\n", s.name, text(s.definition, program_.axes));
    }
    std::string prelude =
        replaced(templates::host_prelude, "@REAL@", real_ == Real::float32 ? "float" : "double");
    prelude = replaced(prelude, "@LANES@", real_ == Real::float32 ? "16" : "8");
    out_ += replaced(prelude, "@FMA@", real_ == Real::float32 ? "__builtin_fmaf" : "__builtin_fma");
  }

  std::string axis(int a) const { return program_.axes[static_cast<std::size_t>(a)]; }
  int inner() const { return program_.dims() - 1; }

  /// The argument a piece calls `local`; of a strip array, the one of `side`.
  static const ArrayArgument& argument(const ir::Kernel& kernel, const std::string& local, int side = 0) {
    for (const ArrayArgument& a : kernel.arrays) {
      if (a.local == local && (a.side < 0 || a.side == side)) return a;
    }
    throw InternalError("kernel " + kernel.name + " has no array " + local);
  }

  static bool is_strip(const ArrayArgument& a) { return a.kind == ArrayKind::field && a.side >= 0; }

  /// Stride of an array along an outer axis, as a piece (`local`) or the kernel (`identifier`) calls it.
  std::string stride(const ArrayArgument& a, int outer, const std::string& name) const {
    return is_strip(a) ? fmt::format("s_{}_{}", name, axis(outer)) : "s_" + axis(outer);
  }

  std::string access(const ir::Kernel& kernel, const ir::Node& node) const {
    if (node.kind == ir::Kind::profile) return node.axis == inner() ? node.name + "[i]" : node.name;
    const ArrayArgument& a = argument(kernel, node.name);
    std::string at = "i";
    for (int outer = 0; outer <= inner(); ++outer) {
      const int cells = node.offset[static_cast<std::size_t>(outer)];
      if (cells == 0) continue;
      const int size = cells < 0 ? -cells : cells;
      const std::string step = outer == inner() ? std::to_string(size)
                               : size == 1      ? stride(a, outer, a.local)
                                                : fmt::format("{} * {}", size, stride(a, outer, a.local));
      at += fmt::format(" {} {}", cells < 0 ? '-' : '+', step);
    }
    return fmt::format("{}[{}]", node.name, at);
  }

  /// A piece is a function of one row: pointers at the row's origin, strides, scalars, and the span of x.
  void piece(const ir::Kernel& kernel, std::size_t number) {
    const ir::Piece& p = kernel.pieces[number];
    std::vector<std::string> parameters;
    for (const std::string& name : p.arrays) {
      const ArrayArgument& a = argument(kernel, name);
      if (a.kind == ArrayKind::profile && a.axis != inner()) {
        parameters.push_back("const real " + name);
        continue;
      }
      parameters.push_back(fmt::format("{}real* __restrict {}", a.written ? "" : "const ", name));
      if (is_strip(a)) {
        for (int o = 0; o < inner(); ++o)
          parameters.push_back("[[maybe_unused]] const index " + stride(a, o, a.local));
      }
    }
    for (int o = 0; o < inner(); ++o) parameters.push_back("[[maybe_unused]] const index s_" + axis(o));
    for (const std::string& s : p.scalars) parameters.push_back("const real " + s);
    parameters.emplace_back("const index begin");
    parameters.emplace_back("const index end");
    out_ += fmt::format("\n// {}: {}\nONDULA_ROW void {}_piece{}(\n    {}) {{\n", p.location.short_text(),
                        p.comment, kernel.name, number, fmt::join(parameters, ",\n    "));
    out_ += "  ONDULA_LOOP\n  for (index i = begin; i < end; ++i) {\n";
    const AccessPrinter printer = [&](const ir::Node& node) { return access(kernel, node); };
    for (const ir::Let& let : p.lets) {
      out_ += fmt::format("    const real {} = {};\n", let.name, expression(let.value, real_, printer));
    }
    for (const ir::Store& store : p.stores) {
      out_ += fmt::format("    {}[i] = {};\n", store.array, expression(store.value, real_, printer));
    }
    out_ += "  }\n}\n";
  }

  void entry(const ir::Kernel& kernel) {
    const ArgumentLayout layout(kernel, program_.dims());
    out_ += fmt::format(
        "\nextern \"C\" void {}(real* const* arrays, const index* n, const real* scalars,\n"
        "    [[maybe_unused]] const index* tile) {{\n",
        kernel.name);
    for (std::size_t i = 0; i < kernel.arrays.size(); ++i) {
      const ArrayArgument& a = kernel.arrays[i];
      out_ += fmt::format("  {}real* {} = arrays[{}];\n", a.written ? "" : "const ", a.identifier, i);
    }
    for (int o = 0; o < inner(); ++o) out_ += fmt::format("  const index s_{} = n[{}];\n", axis(o), o);
    for (std::size_t i = 0; i < kernel.arrays.size(); ++i) strip_arguments(kernel.arrays[i], layout.strip(i));
    for (std::size_t i = 0; i < kernel.scalars.size(); ++i) {
      out_ += fmt::format("  const real {} = scalars[{}];\n", kernel.scalars[i], i);
    }
    std::string indent = "  ";
    std::string row;
    for (int o = 0; o < inner(); ++o) {
      const std::string a = axis(o);
      out_ += fmt::format("{}for (index {} = tile[{}]; {} < tile[{}]; ++{}) {{\n", indent, a, 2 * o, a,
                          2 * o + 1, a);
      indent += "  ";
      row += fmt::format("{}{} * s_{}", row.empty() ? "" : " + ", a, a);
    }
    out_ += fmt::format("{}const index row = {};\n", indent, row.empty() ? "0" : row);
    for (std::size_t p = 0; p < kernel.pieces.size(); ++p) dispatch(kernel, layout, p, indent);
    for (int o = inner() - 1; o >= 0; --o) {
      indent.resize(indent.size() - 2);
      out_ += indent + "}\n";
    }
    out_ += "}\n";
  }

  void strip_arguments(const ArrayArgument& a, int position) {
    if (position < 0) return;
    out_ += fmt::format("  {} += n[{}];\n", a.identifier, position);
    for (int o = 0; o < inner(); ++o) {
      out_ += fmt::format("  const index {} = n[{}];\n", stride(a, o, a.identifier), position + 1 + o);
    }
  }

  /// One row's call of a piece, guarded by its box; a base piece chooses between itself and its fused
  /// variants.
  void dispatch(const ir::Kernel& kernel, const ArgumentLayout& layout, std::size_t number,
                const std::string& indent) {
    const ir::Piece& p = kernel.pieces[number];
    if (p.role == ir::Role::fused) return;
    if (p.role == ir::Role::base) {
      choose(kernel, layout, number, indent);
      return;
    }
    std::string elsewhere;
    if (p.role == ir::Role::correction) {
      if (p.region.axis == 0) return;  // every row of the first axis's strips takes the fused variant
      elsewhere = fmt::format(" && !({})", core(layout, static_cast<std::size_t>(p.base), p.region.axis));
    }
    for (int side = 0; side < p.sides(); ++side) {
      const std::string guard = inside(layout.box(number, side));
      const std::string body = call(kernel, number, side, span(layout.box(number, side) + 2 * inner()));
      if (guard.empty())
        out_ += indent + body + "\n";
      else
        out_ += fmt::format("{}if ({}{})\n{}  {}\n", indent, guard, elsewhere, indent, body);
    }
  }

  void choose(const ir::Kernel& kernel, const ArgumentLayout& layout, std::size_t base,
              const std::string& indent) {
    const std::string own = inside(layout.box(base, 0));
    std::vector<std::size_t> along_row;
    std::string otherwise;
    for (std::size_t p = 0; p < base; ++p) {
      const ir::Piece& piece = kernel.pieces[p];
      if (piece.role != ir::Role::fused || piece.base != static_cast<int>(base)) continue;
      if (piece.region.axis == inner()) {
        along_row.push_back(p);
        continue;
      }
      const std::string before = core(layout, base, piece.region.axis);
      for (int side = 0; side < 2; ++side) {
        const int box = layout.box(p, side);
        out_ += fmt::format("{}{}if ({}{})\n{}  {}\n", indent, otherwise, inside(box),
                            before.empty() ? "" : " && " + before, indent,
                            call(kernel, p, side, span(box + 2 * inner())));
        otherwise = "else ";
      }
    }
    const std::string plain = call(kernel, base, 0, span(layout.box(base, 0) + 2 * inner()));
    if (!along_row.empty()) {
      out_ += fmt::format("{}{}if ({} && {}) {{\n", indent, otherwise, own, core(layout, base, inner()));
      for (const std::size_t p : along_row) {
        out_ += indent + "  " + call(kernel, p, 0, span(layout.box(p, 0) + 2 * inner())) + "\n";
      }
      out_ += indent + "  " + call(kernel, base, 0, span(layout.core(base) + 2 * inner())) + "\n";
      for (const std::size_t p : along_row) {
        out_ += indent + "  " + call(kernel, p, 1, span(layout.box(p, 1) + 2 * inner())) + "\n";
      }
      out_ += indent + "}\n";
      otherwise = "else ";
    }
    out_ += fmt::format("{}{}if ({})\n{}  {}\n", indent, otherwise, own, indent, plain);
  }

  /// The row lies within the box that starts at `box`, as far as the outer axes go.
  std::string inside(int box) const {
    std::vector<std::string> tests;
    for (int o = 0; o < inner(); ++o) {
      tests.push_back(
          fmt::format("{} >= n[{}] && {} < n[{}]", axis(o), box + 2 * o, axis(o), box + 2 * o + 1));
    }
    return fmt::format("{}", fmt::join(tests, " && "));
  }

  /// The row lies outside the layers (and aprons) of every axis before `axis_end`.
  std::string core(const ArgumentLayout& layout, std::size_t base, int axis_end) const {
    std::vector<std::string> tests;
    const int at = layout.core(base);
    for (int o = 0; o < axis_end; ++o) {
      tests.push_back(fmt::format("{} >= n[{}] && {} < n[{}]", axis(o), at + 2 * o, axis(o), at + 2 * o + 1));
    }
    return fmt::format("{}", fmt::join(tests, " && "));
  }

  static std::string span(int position) { return fmt::format("n[{}], n[{}]", position, position + 1); }

  std::string call(const ir::Kernel& kernel, std::size_t number, int side, const std::string& span) const {
    const ir::Piece& p = kernel.pieces[number];
    std::vector<std::string> values;
    for (const std::string& name : p.arrays) {
      const ArrayArgument& a = argument(kernel, name, side);
      if (a.kind == ArrayKind::profile) {
        values.push_back(a.axis == inner() ? name : fmt::format("{}[{}]", name, axis(a.axis)));
        continue;
      }
      if (!is_strip(a)) {
        values.push_back(name + " + row");
        continue;
      }
      std::string at = a.identifier;
      for (int o = 0; o < inner(); ++o) at += fmt::format(" + {} * {}", axis(o), stride(a, o, a.identifier));
      values.push_back(at);
      for (int o = 0; o < inner(); ++o) values.push_back(stride(a, o, a.identifier));
    }
    for (int o = 0; o < inner(); ++o) values.push_back("s_" + axis(o));
    values.insert(values.end(), p.scalars.begin(), p.scalars.end());
    return fmt::format("{}_piece{}({}, {});", kernel.name, number, fmt::join(values, ", "), span);
  }

  const ir::KernelSet& set_;
  const ir::Program& program_;
  Real real_;
  std::string out_;
};

}  // namespace

std::string host_text(const ir::KernelSet& set, Real real) { return HostPrinter(set, real).print(); }

}  // namespace ondula::emit
