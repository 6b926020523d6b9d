// Freestanding C++ for the host.
// SPDX-License-Identifier: MIT
#include "compiler/emit/host_text.hpp"

#include <fmt/format.h>

#include <array>
#include <set>

#include "compiler/emit/expression.hpp"
#include "compiler/emit/host_header.hpp"
#include "compiler/emit/live_text.hpp"
#include "compiler/error.hpp"

namespace ondula::emit {
namespace {

using ir::ArrayArgument;
using ir::ArrayKind;

class HostPrinter {
 public:
  HostPrinter(const ir::KernelSet& set, Real real) : set_(set), program_(set.program), real_(real) {}

  std::string print() {
    out_ = host_header(set_, real_);
    for (const ir::Kernel& kernel : set_.kernels) {
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
      entry(kernel);
    }
    return std::move(out_);
  }

 private:
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
      if (cells == 0 || (outer == inner() && cells == 1)) continue;
      const int size = cells < 0 ? -cells : cells;
      const std::string step = outer == inner() ? std::to_string(size)
                               : size == 1      ? stride(a, outer, a.local)
                                                : fmt::format("{} * {}", size, stride(a, outer, a.local));
      at += fmt::format(" {} {}", cells < 0 ? '-' : '+', step);
    }
    // Written a[i + 1], the compiler may carry it over as the next a[i], and then does not vectorise.
    const bool next = node.offset[static_cast<std::size_t>(inner())] == 1;
    return next ? fmt::format("({} + 1)[{}]", node.name, at) : fmt::format("{}[{}]", node.name, at);
  }

  /// The axis whose rows a block runs through: the last outer one; -1 in 1-D.
  int row_axis() const { return inner() - 1; }

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
    const ir::Piece& p = kernel.pieces[number];
    out_ += fmt::format("\n// {}: {}\nONDULA_ROW void {}_piece{}_row(\n    {}) {{\n", p.location.short_text(),
                        p.comment, kernel.name, number, fmt::join(parameters(kernel, p, false), ",\n    "));
    if (p.mixed) out_ += keep_edges(p, program_.dims());
    out_ += "  ONDULA_LOOP\n  for (index i = begin; i < end; ++i) {\n";
    const AccessPrinter printer = [&](const ir::Node& node) { return access(kernel, node); };
    for (const ir::Let& let : p.lets) {
      out_ += fmt::format("    const real {} = {};\n", let.name, expression(let.value, real_, printer));
    }
    for (const ir::Store& store : p.stores) {
      out_ += fmt::format("    {}[i] = {};\n", store.array, expression(store.value, real_, printer));
    }
    out_ += "  }\n";
    if (p.mixed) out_ += restore_edges(p, program_.dims());
    out_ += "}\n";
    if (row_axis() >= 0) block(kernel, number);
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
    return {program_.axes.begin(), program_.axes.begin() + inner()};
  }

  /// The arrays, strides and scalars of a block's function, passed on from inside it.
  std::vector<std::string> passed_on(const ir::Kernel& kernel, const ir::Piece& p) const {
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
    indent_ = "  ";
    if (row_axis() < 0) {
      for (std::size_t p = 0; p < kernel.pieces.size(); ++p) whole(kernel, layout, p);
    } else {
      loops(kernel, layout);
    }
    out_ += "}\n";
  }

  /// 1-D: one row, every piece in turn.
  void whole(const ir::Kernel& kernel, const ArgumentLayout& layout, std::size_t number) {
    for (int side = 0; side < kernel.pieces[number].sides(); ++side) {
      out_ += fmt::format("  {}_piece{}_row({}, {});\n", kernel.name, number,
                          fmt::join(arguments(kernel, number, side), ", "), span(layout.box(number, side)));
    }
  }

  void loops(const ir::Kernel& kernel, const ArgumentLayout& layout) {
    const int r = row_axis();
    for (int o = 0; o < r; ++o) {
      const std::string a = axis(o);
      out_ += fmt::format("{}for (index {} = tile[{}]; {} < tile[{}]; ++{}) {{\n", indent_, a, 2 * o, a,
                          2 * o + 1, a);
      indent_ += "  ";
    }
    out_ += fmt::format("{}for (index first = tile[{}]; first < tile[{}]; first += tile[{}]) {{\n", indent_,
                        2 * r, 2 * r + 1, 2 * r + 2);
    indent_ += "  ";
    out_ += fmt::format("{}const index last = earlier(first + tile[{}], tile[{}]);\n", indent_, 2 * r + 2,
                        2 * r + 1);
    for (std::size_t p = 0; p < kernel.pieces.size(); ++p) dispatch(kernel, layout, p);
    while (indent_.size() > 2) {
      indent_.resize(indent_.size() - 2);
      out_ += indent_ + "}\n";
    }
  }

  void strip_arguments(const ArrayArgument& a, int position) {
    if (position < 0) return;
    out_ += fmt::format("  {} += n[{}];\n", a.identifier, position);
    for (int o = 0; o < inner(); ++o) {
      out_ += fmt::format("  const index {} = n[{}];\n", stride(a, o, a.identifier), position + 1 + o);
    }
  }

  /// The calls of a piece for one block of rows; a base piece shares the rows with its fused variants.
  void dispatch(const ir::Kernel& kernel, const ArgumentLayout& layout, std::size_t number) {
    const ir::Piece& p = kernel.pieces[number];
    if (p.role == ir::Role::fused) return;
    if (p.role == ir::Role::base) {
      choose(kernel, layout, number);
      return;
    }
    // Every row of the first axis's strips takes the fused variant.
    if (p.role == ir::Role::correction && p.region.axis == 0) return;
    for (int side = 0; side < p.sides(); ++side) {
      const int box = layout.box(number, side);
      const std::string x = span(box + 2 * inner());
      const std::string planes = inside(box, row_axis());
      if (p.role == ir::Role::alone) {
        run(kernel, number, side, planes, row(box, 0), row(box, 1), x);
        continue;
      }
      const int core = layout.core(static_cast<std::size_t>(p.base));
      const std::string plain = inside(core, row_axis());
      const std::string both = plain.empty() ? planes : planes + " && !(" + plain + ")";
      if (!plain.empty()) run(kernel, number, side, both, row(box, 0), row(box, 1), x);
      if (p.region.axis != inner()) continue;
      run(kernel, number, side, plain.empty() ? planes : planes + " && " + plain, row(box, 0), row(core, 0),
          x);
      run(kernel, number, side, plain.empty() ? planes : planes + " && " + plain, row(core, 1), row(box, 1),
          x);
    }
  }

  void choose(const ir::Kernel& kernel, const ArgumentLayout& layout, std::size_t base) {
    const int own = layout.box(base, 0);
    const int core = layout.core(base);
    const std::string x = span(own + 2 * inner());
    std::vector<int> along(static_cast<std::size_t>(program_.dims()), -1);  // fused variant of each axis
    for (std::size_t p = 0; p < base; ++p) {
      const ir::Piece& piece = kernel.pieces[p];
      const bool variant = piece.role == ir::Role::fused && piece.base == static_cast<int>(base);
      if (variant) along[static_cast<std::size_t>(piece.region.axis)] = static_cast<int>(p);
    }
    std::string otherwise;
    for (int o = 0; o < row_axis(); ++o) {
      const int fused = along[static_cast<std::size_t>(o)];
      for (int side = 0; fused >= 0 && side < 2; ++side) {
        const int box = layout.box(static_cast<std::size_t>(fused), side);
        out_ += fmt::format("{}{}if ({}) {{\n", indent_, otherwise, inside(box, row_axis()));
        indent_ += "  ";
        run(kernel, static_cast<std::size_t>(fused), side, "", row(box, 0), row(box, 1),
            span(box + 2 * inner()));
        indent_.resize(indent_.size() - 2);
        otherwise = "} else ";
      }
    }
    if (row_axis() > 0) {
      out_ += fmt::format("{}{}if ({}) {{\n", indent_, otherwise, inside(core, row_axis()));
      indent_ += "  ";
    }
    core_rows(kernel, layout, base, along);
    if (row_axis() > 0) {
      indent_.resize(indent_.size() - 2);
      out_ += fmt::format("{}}} else if ({}) {{\n", indent_, inside(own, row_axis()));
      indent_ += "  ";
      run(kernel, base, 0, "", row(own, 0), row(own, 1), x);
      indent_.resize(indent_.size() - 2);
      out_ += indent_ + "}\n";
    }
  }

  /// In a plane without layers of the axes before: strips of the row axis fused, then aprons plain, then rows
  /// between, where the innermost strips are fused.
  void core_rows(const ir::Kernel& kernel, const ArgumentLayout& layout, std::size_t base,
                 const std::vector<int>& along) {
    const int own = layout.box(base, 0);
    const int core = layout.core(base);
    const std::string x = span(own + 2 * inner());
    std::string low = row(own, 0), high = row(own, 1);
    const int across = along[static_cast<std::size_t>(row_axis())];
    for (int side = 0; across >= 0 && side < 2; ++side) {
      const int box = layout.box(static_cast<std::size_t>(across), side);
      run(kernel, static_cast<std::size_t>(across), side, "", row(box, 0), row(box, 1),
          span(box + 2 * inner()));
      if (side == 0)
        low = row(box, 1);
      else
        high = fmt::format("earlier({}, {})", row(box, 0), row(own, 1));
    }
    run(kernel, base, 0, "", low, row(core, 0), x);
    const int inward = along[static_cast<std::size_t>(inner())];
    if (inward < 0) {
      run(kernel, base, 0, "", row(core, 0), row(core, 1), x);
    } else {
      std::vector<std::string> values = core_arguments(kernel, base, static_cast<std::size_t>(inward), false);
      const auto strip = static_cast<std::size_t>(inward);
      for (const int span_at : {layout.box(strip, 0), core, layout.box(strip, 1)}) {
        values.push_back(span(span_at + 2 * inner()));
      }
      out_ += fmt::format("{}if (later(first, {}) < earlier(last, {})) {{\n", indent_, row(core, 0),
                          row(core, 1));
      out_ += fmt::format("{}  {}_core{}(later(first, {}), earlier(last, {}), {});\n{}}}\n", indent_,
                          kernel.name, base, row(core, 0), row(core, 1), fmt::join(values, ", "), indent_);
    }
    run(kernel, base, 0, "", row(core, 1), high, x);
  }

  /// The arrays, strides and scalars of a base piece and its innermost fused variant, each once: as the
  /// kernel passes them (at the plane's origin), or declared as parameters.
  std::vector<std::string> core_arguments(const ir::Kernel& kernel, std::size_t base, std::size_t fused,
                                          bool declared) const {
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

  /// Rows [lo, hi) of the block, where `guard` holds.
  void run(const ir::Kernel& kernel, std::size_t number, int side, const std::string& guard,
           const std::string& lo, const std::string& hi, const std::string& x) {
    out_ += fmt::format("{}if ({}{}later(first, {}) < earlier(last, {})) {{\n", indent_, guard,
                        guard.empty() ? "" : " && ", lo, hi);
    out_ += fmt::format("{}  {}_piece{}({}, later(first, {}), earlier(last, {}), {});\n{}}}\n", indent_,
                        kernel.name, number, fmt::join(arguments(kernel, number, side), ", "), lo, hi, x,
                        indent_);
  }

  /// The plane lies within the box that starts at `box`, as far as the axes before `axis_end` go.
  std::string inside(int box, int axis_end) const {
    std::vector<std::string> tests;
    for (int o = 0; o < axis_end; ++o) {
      tests.push_back(
          fmt::format("{} >= n[{}] && {} < n[{}]", axis(o), box + 2 * o, axis(o), box + 2 * o + 1));
    }
    return fmt::format("{}", fmt::join(tests, " && "));
  }

  /// The first (0) or one past the last (1) row of a box.
  std::string row(int box, int end) const { return fmt::format("n[{}]", box + 2 * row_axis() + end); }

  static std::string span(int position) { return fmt::format("n[{}], n[{}]", position, position + 1); }

  /// Arrays at the plane's origin, strides and scalars: what a call passes before its rows and span.
  std::vector<std::string> arguments(const ir::Kernel& kernel, std::size_t number, int side) const {
    const ir::Piece& p = kernel.pieces[number];
    std::vector<std::string> values;
    for (const std::string& name : p.arrays) {
      const ArrayArgument& a = argument(kernel, name, side);
      if (a.kind == ArrayKind::profile) {
        values.push_back(a.axis >= row_axis() ? name : fmt::format("{}[{}]", name, axis(a.axis)));
        continue;
      }
      std::string at = a.identifier;
      for (int o = 0; o < row_axis(); ++o)
        at += fmt::format(" + {} * {}", axis(o), stride(a, o, a.identifier));
      values.push_back(at);
      for (int o = 0; is_strip(a) && o < inner(); ++o) values.push_back(stride(a, o, a.identifier));
    }
    for (int o = 0; o < inner(); ++o) values.push_back("s_" + axis(o));
    values.insert(values.end(), p.scalars.begin(), p.scalars.end());
    if (p.mixed)
      values.push_back(fmt::format("n + {}", ArgumentLayout(kernel, program_.dims()).lives(number)));
    if (p.mixed && row_axis() >= 0) {
      for (int o = 0; o < row_axis(); ++o) values.push_back(axis(o));
      values.emplace_back("true");
    }
    return values;
  }

  const ir::KernelSet& set_;
  const ir::Program& program_;
  Real real_;
  std::string out_;
  std::string indent_;
};

}  // namespace

std::string host_text(const ir::KernelSet& set, Real real) { return HostPrinter(set, real).print(); }

}  // namespace ondula::emit
