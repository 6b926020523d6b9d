// Freestanding C++ for the host.
// SPDX-License-Identifier: MIT
#include "compiler/emit/host_text.hpp"

#include <fmt/format.h>

#include "compiler/emit/host_pieces.hpp"
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

class HostPrinter : HostNames {
 public:
  HostPrinter(const ir::KernelSet& set, Real real, bool parts)
      : HostNames(set.program),
        set_(set),
        program_(set.program),
        real_(real),
        parts_(parts && host_parts(set) > 1) {}

  std::string print() {
    header();
    for (std::size_t k = 0; k < set_.kernels.size(); ++k) {
      if (parts_) out_ += fmt::format("\n#if !defined(ONDULA_PART) || ONDULA_PART == {}\n", k);
      out_ += host_pieces(program_, set_.kernels[k], real_);
      entry(set_.kernels[k]);
      if (parts_) out_ += "#endif\n";
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
    prelude();
    bool mixed = false;
    for (const ir::Kernel& kernel : set_.kernels) {
      for (const ir::Piece& p : kernel.pieces) mixed |= p.mixed;
    }
    if (mixed) out_ += templates::host_live;
  }

  void prelude() {
    const bool narrow = real_ == Real::float32;
    const int lanes = narrow ? 16 : 8;
    std::vector<std::string> places, on, back;
    for (int k = 0; k < lanes; ++k) {
      places.push_back(std::to_string(k));
      on.push_back(fmt::format("K + {}", k));
      back.push_back(fmt::format("{} + K", lanes + k));
    }
    const std::pair<const char*, std::string> words[] = {
        {"@REAL@", narrow ? "float" : "double"},
        {"@LANES@", std::to_string(lanes)},
        {"@FMA@", narrow ? "__builtin_fmaf" : "__builtin_fma"},
        {"@STORE@", narrow ? "__builtin_ia32_storeups512_mask" : "__builtin_ia32_storeupd512_mask"},
        {"@MASK@", narrow ? "unsigned short" : "unsigned char"},
        {"@WHOLE@", narrow ? "int" : "long long"},
        {"@PLACES@", fmt::format("{}", fmt::join(places, ", "))},
        {"@ON@", fmt::format("{}", fmt::join(on, ", "))},
        {"@BACK@", fmt::format("{}", fmt::join(back, ", "))}};
    std::string text = templates::host_prelude;
    for (const auto& [what, with] : words) text = replaced(text, what, with);
    out_ += text;
  }

  /// The plane a call is for.
  std::string at(int a) const { return a == ahead_axis_ ? "ahead" : axis(a); }

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
      planes_ahead(kernel, layout, o);
    }
    out_ += fmt::format("{}for (index first = tile[{}]; first < tile[{}]; first += tile[{}]) {{\n", indent_,
                        2 * r, 2 * r + 1, 2 * r + 2);
    indent_ += "  ";
    out_ += fmt::format("{}const index last = earlier(first + tile[{}], tile[{}]);\n", indent_, 2 * r + 2,
                        2 * r + 1);
    for (std::size_t p = 0; p < kernel.pieces.size(); ++p) {
      if (kernel.pieces[p].lead_axis == r) rows_ahead(kernel, layout, p);
    }
    for (std::size_t p = 0; p < kernel.pieces.size(); ++p) dispatch(kernel, layout, p);
    while (indent_.size() > 2) {
      indent_.resize(indent_.size() - 2);
      out_ += indent_ + "}\n";
    }
  }

  /// Pieces that run ahead along axis `o`, before the plane: the plane that comes last into reach, and at the
  /// tile's beginning all those within reach.
  void planes_ahead(const ir::Kernel& kernel, const ArgumentLayout& layout, int o) {
    const std::string a = axis(o);
    for (std::size_t p = 0; p < kernel.pieces.size(); ++p) {
      const ir::Piece& piece = kernel.pieces[p];
      if (piece.lead_axis != o) continue;
      out_ += fmt::format(
          "{}for (index ahead = {} == tile[{}] ? {} : {} + {}; ahead < earlier({} + {}, tile[{}]); ++ahead) "
          "{{\n",
          indent_, a, 2 * o, a, a, piece.lead, a, piece.lead + 1, 2 * o + 1);
      indent_ += "  ";
      ahead_axis_ = o;
      const int r = row_axis();
      leading(kernel, layout, p, fmt::format("tile[{}]", 2 * r), fmt::format("tile[{}]", 2 * r + 1));
      ahead_axis_ = -1;
      indent_.resize(indent_.size() - 2);
      out_ += indent_ + "}\n";
    }
  }

  /// The same along the axis of rows: the rows that come into reach of this block.
  void rows_ahead(const ir::Kernel& kernel, const ArgumentLayout& layout, std::size_t number) {
    const int lead = kernel.pieces[number].lead;
    const int r = row_axis();
    out_ += fmt::format("{}{{\n", indent_);
    indent_ += "  ";
    out_ += fmt::format("{}const index first_ahead = first == tile[{}] ? first : first + {};\n", indent_,
                        2 * r, lead);
    out_ +=
        fmt::format("{}const index last_ahead = earlier(last + {}, tile[{}]);\n", indent_, lead, 2 * r + 1);
    leading(kernel, layout, number, "first_ahead", "last_ahead");
    indent_.resize(indent_.size() - 2);
    out_ += indent_ + "}\n";
  }

  /// The calls of a piece for rows [first, last), both sides of its axis.
  void leading(const ir::Kernel& kernel, const ArgumentLayout& layout, std::size_t number,
               const std::string& first, const std::string& last) {
    for (int side = 0; side < 2; ++side) {
      const int box = layout.box(number, side);
      run(kernel, number, side, inside(box, row_axis()), row(box, 0), row(box, 1), span(box + 2 * inner()),
          first, last);
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
    if (p.role == ir::Role::fused || p.lead_axis >= 0) return;
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

  /// Rows [lo, hi) of the block [first, last), where `guard` holds.
  void run(const ir::Kernel& kernel, std::size_t number, int side, const std::string& guard,
           const std::string& lo, const std::string& hi, const std::string& x,
           const std::string& first = "first", const std::string& last = "last") {
    out_ += fmt::format("{}if ({}{}later({}, {}) < earlier({}, {})) {{\n", indent_, guard,
                        guard.empty() ? "" : " && ", first, lo, last, hi);
    out_ += fmt::format("{}  {}_piece{}({}, later({}, {}), earlier({}, {}), {});\n{}}}\n", indent_,
                        kernel.name, number, fmt::join(arguments(kernel, number, side), ", "), first, lo,
                        last, hi, x, indent_);
  }

  /// The plane lies within the box that starts at `box`, as far as the axes before `axis_end` go.
  std::string inside(int box, int axis_end) const {
    std::vector<std::string> tests;
    for (int o = 0; o < axis_end; ++o) {
      tests.push_back(fmt::format("{} >= n[{}] && {} < n[{}]", at(o), box + 2 * o, at(o), box + 2 * o + 1));
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
        values.push_back(a.axis >= row_axis() ? name : fmt::format("{}[{}]", name, at(a.axis)));
        continue;
      }
      std::string origin = a.identifier;
      for (int o = 0; o < row_axis(); ++o)
        origin += fmt::format(" + {} * {}", at(o), stride(a, o, a.identifier));
      values.push_back(origin);
      for (int o = 0; is_strip(a) && o < inner(); ++o) values.push_back(stride(a, o, a.identifier));
    }
    for (int o = 0; o < inner(); ++o) values.push_back("s_" + axis(o));
    values.insert(values.end(), p.scalars.begin(), p.scalars.end());
    if (p.mixed)
      values.push_back(fmt::format("n + {}", ArgumentLayout(kernel, program_.dims()).lives(number)));
    if (p.mixed && row_axis() >= 0) {
      for (int o = 0; o < row_axis(); ++o) values.push_back(at(o));
      values.emplace_back("true");
    }
    return values;
  }

  const ir::KernelSet& set_;
  const ir::Program& program_;
  Real real_;
  bool parts_;
  std::string out_;
  std::string indent_;
  int ahead_axis_ = -1;  // the axis along which the piece being printed runs ahead
};

}  // namespace

std::string host_text(const ir::KernelSet& set, Real real, bool parts) {
  return HostPrinter(set, real, parts).print();
}

int host_parts(const ir::KernelSet& set) { return static_cast<int>(set.kernels.size()); }

}  // namespace ondula::emit
