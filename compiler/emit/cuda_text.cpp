// Header-free CUDA C++.
// SPDX-License-Identifier: MIT
#include "compiler/emit/cuda_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "compiler/emit/expression.hpp"
#include "compiler/error.hpp"
#include "compiler/passes/cuda_arguments.hpp"
#include "compiler/passes/cuda_lets.hpp"
#include "templates/templates.hpp"

namespace ondula::emit {
namespace {

using ir::ArrayArgument;
using ir::ArrayKind;
using Argument = ir::CudaArgument;

std::string replaced(std::string text, const std::string& what, const std::string& with) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size())) {
    text.replace(at, what.size(), with);
  }
  return text;
}

/// Lines under a growing indentation.
class Lines {
 public:
  template <class... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    text_ += indent_ + fmt::format(format, std::forward<Args>(args)...) + "\n";
  }
  template <class... Args>
  void open(fmt::format_string<Args...> format, Args&&... args) {
    line("{} {{", fmt::format(format, std::forward<Args>(args)...));
    indent_ += "  ";
  }
  void close() {
    indent_.resize(indent_.size() - 2);
    line("}}");
  }
  std::size_t depth() const { return indent_.size() / 2; }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
  std::string indent_;
};

class KernelPrinter {
 public:
  KernelPrinter(const ir::CudaProgram& program, const ir::CudaKernel& kernel, Real real, Lines& out)
      : program_(program.set.program),
        kernel_(kernel),
        source_(program.set.kernels[static_cast<std::size_t>(kernel.sweep)]),
        shots_(program.target.shots),
        real_(real),
        out_(out) {}

  void print() {
    signature();
    const std::size_t outside = out_.depth();
    if (shots_) shot();
    columns();
    const bool march = kernel_.march;
    if (inner() >= 2) rows();
    if (inner() >= 1) march ? planes() : slowest();
    if (!march) point("i", inner() >= 1 ? axis(0) : "");
    if (march) advance();
    for (const ir::CudaRange& range : kernel_.ranges) guard(range);
    body();
    if (march) shift();
    while (out_.depth() > outside) out_.close();
    out_.close();
  }

 private:
  std::string axis(int a) const { return program_.axes[static_cast<std::size_t>(a)]; }
  int inner() const { return program_.dims() - 1; }

  const ArrayArgument& argument(const std::string& local) const {
    for (const ArrayArgument& a : source_.arrays) {
      if (a.local == local) return a;
    }
    throw InternalError("kernel " + source_.name + " has no array " + local);
  }

  static bool is_strip(const ArrayArgument& a) { return a.kind == ArrayKind::field && a.side >= 0; }

  std::string parameter(const Argument& a) const {
    switch (a.kind) {
      case Argument::Kind::array: {
        const bool written = source_.arrays[static_cast<std::size_t>(a.array)].written;
        return fmt::format("{}real* __restrict__ {}", written ? "" : "const ", a.name);
      }
      case Argument::Kind::scalar:
        return "const real " + a.name;
      case Argument::Kind::scalars:
        return "const real* __restrict__ scalars";
      default:
        return "const index " + a.name;
    }
  }

  void signature() {
    std::vector<std::string> parameters;
    for (const Argument& a : kernel_.arguments) parameters.push_back(parameter(a));
    out_.line("");
    out_.line("ONDULA_KERNEL({}, {}) {}(", kernel_.threads(), kernel_.min_blocks, kernel_.name);
    for (std::size_t i = 0; i + 1 < parameters.size(); ++i) out_.line("    {},", parameters[i]);
    out_.open("    {})", parameters.back());
    if (kernel_.arguments.back().kind != Argument::Kind::scalars) return;
    std::set<std::string> used;
    for (const ir::CudaBlock& block : kernel_.blocks) symbols(block, used);
    for (std::size_t s = 0; s < source_.scalars.size(); ++s) {
      if (used.contains(source_.scalars[s])) out_.line("const real {} = scalars[{}];", source_.scalars[s], s);
    }
  }

  static void symbols(const ir::CudaBlock& block, std::set<std::string>& used) {
    const auto walk = [&](auto&& self, ir::Expr e) -> void {
      if (e->kind == ir::Kind::symbol) used.insert(e->name);
      for (const ir::Expr arg : e->args) self(self, arg);
    };
    for (const ir::CudaPiece& piece : block.pieces) {
      for (const ir::Let& let : piece.lets) walk(walk, let.value);
      for (const ir::CudaStore& store : piece.stores) walk(walk, store.value);
    }
  }

  /// A kernel over strips runs on both sides and skips what lies between.
  bool skips(int a) const { return kernel_.strip_axis == a; }
  std::string skipped(int a) const { return fmt::format("(close_{0}_hi - close_{0}_lo)", axis(a)); }

  void columns() {
    const std::string x = axis(inner());
    const int tiles = inner() >= 2 ? kernel_.rows_per_strip : 1;
    const std::string block = tiles > 1 ? fmt::format("blockIdx.x / {}", tiles) : "blockIdx.x";
    // Two's complement: a begin below 0 goes down to a whole line too.
    const std::string down = kernel_.aligned ? fmt::format(" - (begin_{} & {})", x, kernel_.line - 1) : "";
    out_.line("{}index {} = begin_{}{} + (index)({}) * {} + (index)threadIdx.x;",
              skips(inner()) ? "" : "const ", x, x, down, block, kernel_.block[0]);
    if (skips(inner())) out_.line("if ({0} >= close_{0}_lo) {0} += {1};", x, skipped(inner()));
    out_.line("if ({1}{0} >= end_{0}) return;", x,
              kernel_.aligned ? fmt::format("{0} < begin_{0} || ", x) : "");
  }

  /// The shot's own copies of what is no coefficient: one for a whole block, so its addresses are too.
  void shot() {
    out_.line("const index shot = (index){};", inner() >= 2 ? "(blockIdx.z >> strip_bits)" : "blockIdx.z");
    for (const Argument& argument : kernel_.arguments) {
      if (argument.kind != Argument::Kind::array) continue;
      const ArrayArgument& a = source_.arrays[static_cast<std::size_t>(argument.array)];
      if (a.kind != ArrayKind::field) continue;
      const std::string of = is_strip(a) ? "_" + axis(program_.field(a.name).strip_axis) : "";
      out_.line("{} += (long long)shot * s_shot{};", argument.name, of);
    }
  }

  /// 3-D: the blocks of one y-strip come first, then the next plane, then the next strip.
  void rows() {
    const std::string y = axis(1);
    const int strip = kernel_.rows_per_strip * kernel_.block[1];
    const std::string first =
        fmt::format("begin_{} + (index){} * {} + (index)(blockIdx.x % {}) * {} + (index)threadIdx.y", y,
                    shots_ ? "(blockIdx.z & ((1u << strip_bits) - 1))" : "blockIdx.z", strip,
                    kernel_.rows_per_strip, kernel_.block[1]);
    loop(1, first, fmt::format("{} * {}", shots_ ? "((index)1 << strip_bits)" : "(index)gridDim.z", strip));
  }

  /// The slowest axis: planes in 3-D, rows in 2-D.
  void slowest() {
    if (inner() == 2) {
      loop(0, fmt::format("begin_{} + (index)blockIdx.y", axis(0)), "(index)gridDim.y");
      return;
    }
    const int rows = kernel_.block[1];
    loop(0, fmt::format("begin_{} + (index)blockIdx.y * {} + (index)threadIdx.y", axis(0), rows),
         fmt::format("(index)gridDim.y * {}", rows));
  }

  void loop(int a, const std::string& first, const std::string& step) {
    const std::string name = axis(a);
    if (!skips(a)) {
      out_.open("for (index {0} = {1}; {0} < end_{0}; {0} += {2})", name, first, step);
      return;
    }
    out_.open("for (index near_{0} = {1}; near_{0} < end_{0} - {2}; near_{0} += {3})", name, first,
              skipped(a), step);
    out_.line("const index {0} = near_{0} < close_{0}_lo ? near_{0} : near_{0} + {1};", name, skipped(a));
  }

  void point(const std::string& name, const std::string& plane) {
    std::string at;
    for (int o = 0; o < inner(); ++o) at += fmt::format("{} * s_{} + ", o == 0 ? plane : axis(o), axis(o));
    out_.line("const index {} = {}{};", name, at, axis(inner()));
  }

  std::string queued(const ir::CudaQueue& queue, int plane, const std::string& at) const {
    ir::HalfCells offset = queue.column;
    offset[0] = plane;
    return fmt::format("{}[{}]", queue.array, shifted(at, offset, argument(queue.array)));
  }

  /// A block marches through `planes` planes; queues hold what it has read before.
  void planes() {
    const std::string z = axis(0);
    out_.line("const index first_{0} = begin_{0} + (index)blockIdx.y * planes;", z);
    out_.line("const index last_{0} = first_{0} + planes < end_{0} ? first_{0} + planes : end_{0};", z);
    point("i0", "first_" + z);
    for (std::size_t q = 0; q < kernel_.queues.size(); ++q) {
      const ir::CudaQueue& queue = kernel_.queues[q];
      out_.line("real q{}[{}];  // {}, planes {} to {}", q, queue.size(), queue.array, queue.first,
                queue.last);
      for (int k = 0; k + 1 < queue.size(); ++k)
        out_.line("q{}[{}] = {};", q, k, queued(queue, queue.first + k, "i0"));
    }
    out_.open("for (index {0} = first_{0}; {0} < last_{0}; ++{0})", z);
  }

  void advance() {
    point("i", axis(0));
    for (std::size_t q = 0; q < kernel_.queues.size(); ++q) {
      const ir::CudaQueue& queue = kernel_.queues[q];
      out_.line("q{}[{}] = {};", q, queue.size() - 1, queued(queue, queue.last, "i"));
    }
  }

  void shift() {
    for (std::size_t q = 0; q < kernel_.queues.size(); ++q) {
      for (int k = 0; k + 1 < kernel_.queues[q].size(); ++k) out_.line("q{0}[{1}] = q{0}[{2}];", q, k, k + 1);
    }
  }

  void guard(const ir::CudaRange& range) {
    const auto r = static_cast<int>(&range - kernel_.ranges.data());
    if (!passes::cuda_guarded(kernel_, r)) return;
    out_.line("const bool live_{0}{1} = {0} >= begin_{0}{1} && {0} < end_{0}{1};", axis(range.axis), r);
  }

  std::string guards(const ir::CudaStore& store) const {
    std::vector<std::string> tests;
    for (const int r : store.guards) {
      if (passes::cuda_guarded(kernel_, r))
        tests.push_back(fmt::format("live_{}{}", axis(kernel_.ranges[static_cast<std::size_t>(r)].axis), r));
    }
    return fmt::format("{}", fmt::join(tests, " && "));
  }

  void body() {
    int open_axis = -1;
    for (const ir::CudaBlock& block : kernel_.blocks) {
      const int own = block.region < 0 ? -1 : kernel_.regions[static_cast<std::size_t>(block.region)].axis;
      if (open_axis >= 0 && own != open_axis) out_.close();
      // A kernel over strips of this axis is close to them everywhere.
      const bool opens = own >= 0 && own != open_axis && own != kernel_.strip_axis;
      if (opens) out_.open("if ({0} < close_{0}_lo || {0} >= close_{0}_hi)", axis(own));
      open_axis = own == kernel_.strip_axis ? -1 : own;
      if (block.region < 0)
        for (const ir::CudaPiece& piece : block.pieces) print(piece, block);
      else
        layer(block);
    }
    if (open_axis >= 0) out_.close();
    for (const ir::CudaStore& store : kernel_.stores) put(store, passes::cuda_new_value(store.array), "i");
  }

  void put(const ir::CudaStore& store, const std::string& value, const std::string& at) {
    const std::string when = guards(store);
    out_.line("{}{}[{}] = {};", when.empty() ? "" : "if (" + when + ") ", store.array, at, value);
  }

  /// Where some fields live beyond faces, the layers' arrays of the others end before the box does: when the
  /// block's stores count.
  std::string besides(const ir::CudaBlock& block) const {
    const bool beyond =
        std::any_of(kernel_.ranges.begin(), kernel_.ranges.end(),
                    [&](const ir::CudaRange& r) { return program_.field(r.field).beyond_axis >= 0; });
    std::set<std::string> conditions;
    for (const ir::CudaPiece& piece : block.pieces) {
      for (const ir::CudaStore& store : piece.stores) conditions.insert(guards(store));
    }
    if (!beyond || conditions.contains("")) return "";
    if (conditions.size() == 1) return *conditions.begin();
    return fmt::format("(({}))", fmt::join(conditions, ") || ("));
  }

  /// Strips do not meet; aprons may, where a grid is narrow, and then both sides act, minus first.
  void layer(const ir::CudaBlock& block) {
    const ir::CudaRegion& region = kernel_.regions[static_cast<std::size_t>(block.region)];
    const std::string name = passes::cuda_region_name(program_, region);
    const std::string at = axis(region.axis);
    const auto within = [&](const std::string& side) {
      return fmt::format("{0} >= {1}_{2}_begin && {0} < {1}_{2}_end", at, name, side);
    };
    const std::string live = besides(block);
    if (region.kind == ir::RegionKind::strip) {
      const std::string sides = fmt::format("({}) || ({})", within("lo"), within("hi"));
      if (live.empty())
        out_.open("if ({})", sides);
      else
        out_.open("if ({} && ({}))", live, sides);
      if (!block.strips.empty()) out_.line("const bool high = {} >= {}_hi_begin;", at, name);
    } else {
      out_.line("#pragma unroll 1");
      out_.open("for (int side = 0; side < 2; ++side)");
      out_.line("const bool high = side == 1;");
      out_.line("const bool within = high ? {} : {};", within("hi"), within("lo"));
      out_.line("if ({}) continue;", live.empty() ? "!within" : fmt::format("!(within && {})", live));
    }
    for (const std::string& strip : block.strips) sides(strip);
    declared_.clear();
    for (const ir::CudaPiece& piece : block.pieces) print(piece, block);
    out_.close();
  }

  /// The array of the side the point lies on, and the point's place in it.
  void sides(const std::string& local) {
    const ArrayArgument& a = argument(local);
    out_.line("{}real* const {} = high ? {}_hi : {}_lo;", a.written ? "" : "const ", local, local, local);
    std::string at;
    for (int o = 0; o < inner(); ++o) {
      out_.line("const index s_{0}_{1} = high ? s_{0}_hi_{1} : s_{0}_lo_{1};", local, axis(o));
      at += fmt::format("{} * s_{}_{} + ", axis(o), local, axis(o));
    }
    out_.line("const index j_{} = {}{};", local, at, axis(inner()));
  }

  std::string shifted(std::string at, const ir::HalfCells& offset, const ArrayArgument& a) const {
    for (int o = 0; o <= inner(); ++o) {
      const int cells = offset[static_cast<std::size_t>(o)];
      if (cells == 0) continue;
      const int size = cells < 0 ? -cells : cells;
      const std::string stride = is_strip(a) ? fmt::format("s_{}_{}", a.local, axis(o)) : "s_" + axis(o);
      const std::string step = o == inner() ? std::to_string(size)
                               : size == 1  ? stride
                                            : fmt::format("{} * {}", size, stride);
      at += fmt::format(" {} {}", cells < 0 ? '-' : '+', step);
    }
    return at;
  }

  std::string access(const ir::Node& node) const {
    if (node.kind == ir::Kind::profile) return fmt::format("{}[{}]", node.name, axis(node.axis));
    const ArrayArgument& a = argument(node.name);
    for (std::size_t q = 0; q < kernel_.queues.size(); ++q) {
      const ir::CudaQueue& queue = kernel_.queues[q];
      ir::HalfCells column = node.offset;
      column[0] = 0;
      if (queue.array != node.name || queue.column != column) continue;
      if (node.offset[0] >= queue.first && node.offset[0] <= queue.last)
        return fmt::format("q{}[{}]", q, node.offset[0] - queue.first);
    }
    return fmt::format("{}[{}]", node.name, shifted(is_strip(a) ? "j_" + node.name : "i", node.offset, a));
  }

  void print(const ir::CudaPiece& piece, const ir::CudaBlock& block) {
    const AccessPrinter printer = [&](const ir::Node& node) { return access(node); };
    out_.line("// {}: {}", piece.location.short_text(), piece.comment);
    for (const ir::Let& let : piece.lets)
      out_.line("const real {} = {};", let.name, expression(let.value, real_, printer));
    for (const ir::CudaStore& store : piece.stores) {
      const std::string value = expression(store.value, real_, printer);
      if (store.keep == ir::CudaKeep::direct) {
        put(store, value, "i");
        continue;
      }
      const bool first =
          (block.region < 0 || store.keep == ir::CudaKeep::strip) && declared_.insert(store.array).second;
      out_.line("{}{} = {};", first ? "real " : "", passes::cuda_new_value(store.array), value);
      if (store.keep == ir::CudaKeep::strip)
        put(store, passes::cuda_new_value(store.array), "j_" + store.array);
    }
  }

  const ir::Program& program_;
  const ir::CudaKernel& kernel_;
  const ir::Kernel& source_;
  bool shots_;
  Real real_;
  Lines& out_;
  std::set<std::string> declared_;  // values of the block being printed
};

}  // namespace

std::string cuda_header(const ir::CudaProgram& cuda, Real real) {
  const ir::Program& program = cuda.set.program;
  std::string out =
      fmt::format("// {}, {}, axes {}, order {}, {}, for sm_{}.\n// {}\n//\n", program.equation,
                  program.direction, fmt::join(program.axes, " "), program.order,
                  real == Real::float32 ? "float32" : "float64", cuda.target.sm, program.description);
  for (const ir::Coefficient& c : program.coefficients)
    out += fmt::format("// {} = {}\n", c.name, text(c.definition, program.axes));
  for (const ir::Scalar& s : program.scalars)
    out += fmt::format("// {} = {}\n", s.name, text(s.definition, program.axes));
  return out;
}

std::string cuda_kernels(const ir::CudaProgram& program, Real real) {
  Lines out;
  for (const ir::CudaKernel& kernel : program.kernels) KernelPrinter(program, kernel, real, out).print();
  return out.take();
}

std::string cuda_text(const ir::CudaProgram& program, Real real) {
  const bool wide = real == Real::float64;
  if (program.target.element_bytes != (wide ? 8 : 4))
    throw InternalError("CUDA text of another type than its schedule");
  std::string prelude = replaced(templates::cuda_prelude, "@REAL@", wide ? "double" : "float");
  prelude = replaced(prelude, "@INDEX@", program.target.index_bits == 32 ? "int" : "long long");
  prelude = replaced(prelude, "@FMA@", wide ? "__fma_rn" : "__fmaf_rn");
  const std::string points = replaced(templates::cuda_points, "@WIDE@", "double");
  return cuda_header(program, real) + prelude + cuda_kernels(program, real) + points;
}

}  // namespace ondula::emit
