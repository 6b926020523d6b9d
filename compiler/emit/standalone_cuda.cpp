// CUDA kernels of standalone sources: their text behind launchers, and the bounds and blocks of each.
// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>

#include "compiler/emit/cuda_text.hpp"
#include "compiler/emit/standalone_context.hpp"
#include "compiler/error.hpp"
#include "templates/templates.hpp"

namespace ondula::emit {
namespace {

using Kind = ir::CudaArgument::Kind;

/// One kernel's bounds: the values of its integer arguments, in order, as an array `n`.
class BoundsPrinter {
 public:
  BoundsPrinter(const StandaloneContext& context, const StandaloneStep& step, const ir::CudaKernel& kernel)
      : c_(context),
        step_(step),
        kernel_(kernel),
        source_(step.set.kernels[static_cast<std::size_t>(kernel.sweep)]) {}

  std::string print() {
    const std::string name = c_.short_name(kernel_.name);
    out_ = fmt::format(
        "\nvoid place_{0}(const Grid* grid, Plan* plan) {{\n  index* const n = plan->{0}_bounds;\n", name);
    for (int a = 0; a < c_.dims(); ++a) boxes(a);
    for (int a = 0; a < c_.dims(); ++a) gaps(a);
    blocks(name);
    int next = 0;
    for (const ir::CudaArgument& argument : kernel_.arguments) {
      const std::string text = value(argument);
      if (!text.empty()) out_ += fmt::format("  n[{}] = {};  // {}\n", next++, text, argument.name);
    }
    return out_ + "}\n";
  }

 private:
  std::string live(const ir::CudaRange& range) const {
    return fmt::format("live(*grid, {}, {})", StandaloneContext::description(step_, range.field), range.axis);
  }

  std::string region(int item, int side) const {
    const ir::CudaRegion& r = kernel_.regions[static_cast<std::size_t>(item)];
    if (!r.beyond.empty())
      return fmt::format("layer_of(*grid, {}, {}, {})", StandaloneContext::description(step_, r.beyond),
                         r.axis, side);
    if (r.kind != ir::RegionKind::apron) return fmt::format("layer(*grid, {}, {}, {})", r.axis, side, r.half);
    return fmt::format("beside(*grid, {}, {}, {}, {}.apron)", r.axis, side, r.half,
                       StandaloneContext::cut(step_));
  }

  /// The points along an axis that threads run over.
  void boxes(int a) {
    std::string text;
    for (const ir::CudaRange& range : kernel_.ranges) {
      if (range.axis != a) continue;
      text = text.empty() ? live(range) : fmt::format("hull({}, {})", text, live(range));
    }
    out_ += fmt::format("  const Range box_{} = {};\n", c_.axis(a), text);
  }

  /// What lies between the layers of an axis, where the kernel does something in these.
  void gaps(int a) {
    std::vector<std::string> before, after;
    for (std::size_t r = 0; r < kernel_.regions.size(); ++r) {
      if (kernel_.regions[r].axis != a) continue;
      before.push_back(region(static_cast<int>(r), 0));
      after.push_back(region(static_cast<int>(r), 1));
    }
    if (before.empty()) return;
    out_ += fmt::format("  const Range gap_{0} = between(box_{0}, {{{1}}}, {{{2}}});\n", c_.axis(a),
                        fmt::join(before, ", "), fmt::join(after, ", "));
  }

  void blocks(const std::string& name) {
    std::vector<std::string> counts;
    for (int a = 0; a < c_.dims(); ++a) {
      std::string count = fmt::format("box_{}.size()", c_.axis(a));
      if (kernel_.strip_axis == a) count += fmt::format(" - gap_{}.size()", c_.axis(a));
      if (kernel_.aligned && a + 1 == c_.dims())
        count += fmt::format(" + (box_{}.lo & {})", c_.axis(a), kernel_.line - 1);
      counts.push_back(std::move(count));
    }
    out_ += fmt::format(
        "  const Shape shape{{{{{}, {}}}, {}, {}, {}}};\n  {}put_blocks(*grid, shape, {{{}}}, "
        "plan->{}_blocks);\n",
        kernel_.block[0], kernel_.block[1], kernel_.rows_per_strip, kernel_.min_blocks, kernel_.march,
        kernel_.march ? "const index planes = " : "", fmt::join(counts, ", "), name);
  }

  /// Empty for what is no integer.
  std::string value(const ir::CudaArgument& a) const {
    const auto end = [&](const std::string& range) { return range + (a.end == 0 ? ".lo" : ".hi"); };
    switch (a.kind) {
      case Kind::array: {
        const ir::ArrayArgument& array = source_.arrays[static_cast<std::size_t>(a.array)];
        const bool memory = array.kind == ir::ArrayKind::field && array.side >= 0;
        return memory ? c_.memory_layout(step_, array) + ".origin" : "";
      }
      case Kind::stride:
        return fmt::format("plan->stride[{}]", a.axis);
      case Kind::strip_stride:
        return fmt::format("{}.stride[{}]",
                           c_.memory_layout(step_, source_.arrays[static_cast<std::size_t>(a.array)]),
                           a.axis);
      case Kind::box:
        return end("box_" + c_.axis(a.axis));
      case Kind::live:
        return end(live(kernel_.ranges[static_cast<std::size_t>(a.item)]));
      case Kind::region:
        return end(region(a.item, a.side));
      case Kind::close:
        return fmt::format("gap_{}.{}", c_.axis(a.axis), a.side == 0 ? "lo" : "hi");
      case Kind::planes:
        return "planes";
      case Kind::scalar:
        return "";
      case Kind::shot_stride:
      case Kind::strip_bits:
        throw InternalError("standalone kernels take one shot");
      case Kind::scalars:
        break;
    }
    throw UserError(
        fmt::format("generate: {} has more scalars than a CUDA kernel takes by value", kernel_.name));
  }

  const StandaloneContext& c_;
  const StandaloneStep& step_;
  const ir::CudaKernel& kernel_;
  const ir::Kernel& source_;
  std::string out_;
};

/// launch_NAME<index>: one kernel with the plan's arguments.
std::string launch(const StandaloneContext& c, const StandaloneStep& step, const ir::CudaKernel& kernel) {
  const std::string name = c.short_name(kernel.name);
  const ir::Kernel& source = step.set.kernels[static_cast<std::size_t>(kernel.sweep)];
  std::vector<std::string> arguments;
  int next = 0;
  for (const ir::CudaArgument& a : kernel.arguments) {
    if (a.kind == Kind::array) {
      const ir::ArrayArgument& array = source.arrays[static_cast<std::size_t>(a.array)];
      std::string place;
      if (array.kind == ir::ArrayKind::field && array.side >= 0)
        place = fmt::format(" + n[{}]", next++);
      else if (array.kind != ir::ArrayKind::profile)
        place = " + plan.origin";
      arguments.push_back(c.array(step, array).holder + "." + c.member(step, array) + place);
    } else if (a.kind == Kind::scalar) {
      const auto at = std::find(source.scalars.begin(), source.scalars.end(), a.name);
      arguments.push_back(
          fmt::format("plan.{}_scalars[{}]", c.short_name(source.name), at - source.scalars.begin()));
    } else {
      arguments.push_back(fmt::format("(index)n[{}]", next++));
    }
  }
  return fmt::format(
      "\ntemplate <class index>\nvoid launch_{0}(const Plan& plan, [[maybe_unused]] const Arrays& "
      "arrays,{4} cudaStream_t stream) {{\n"
      "  const unsigned* const blocks = plan.{0}_blocks;\n"
      "  if (blocks[0] == 0) return;\n"
      "  const long long* const n = plan.{0}_bounds;\n"
      "  const dim3 grid(blocks[0], blocks[1], blocks[2]);\n  const dim3 block({1}, {2}, 1);\n"
      "  {0}<index><<<grid, block, 0, stream>>>(\n      {3});\n}}\n",
      name, kernel.block[0], kernel.block[1], fmt::join(arguments, ",\n      "),
      step.adjoint() ? fmt::format(" const {}_adjoint_arrays& adjoint,", c.symbol()) : "");
}

std::string launcher(const StandaloneContext& c, const StandaloneStep& step, int sweep) {
  std::string wide, narrow;
  for (const ir::CudaKernel& kernel : step.cuda->kernels) {
    if (kernel.sweep != sweep) continue;
    const std::string name = c.short_name(kernel.name);
    const std::string arguments =
        fmt::format("(*plan, *arrays, {}(cudaStream_t)stream);\n", step.adjoint() ? "*adjoint, " : "");
    wide += fmt::format("    launch_{}<long long>{}", name, arguments);
    narrow += fmt::format("    launch_{}<int>{}", name, arguments);
  }
  return fmt::format(
      "\n{4}extern \"C\" int {0}(const {1}_plan* plan, {5}, void* stream) {{\n"
      "  if (plan->wide) {{\n{2}  }} else {{\n{3}  }}\n  return (int)cudaGetLastError();\n}}\n",
      c.launcher(step, sweep), c.symbol(), wide, narrow, c.changed_places(step), c.array_parameters(step));
}

}  // namespace

std::string standalone_cuda_kernels(const StandaloneContext& c, const StandaloneStep& step) {
  ir::CudaProgram named = *step.cuda;
  for (ir::CudaKernel& kernel : named.kernels) kernel.name = c.short_name(kernel.name);
  const std::vector<std::pair<std::string, std::string>> values = {
      {"P", c.symbol()},
      {"REAL", c.real_name()},
      {"FMA", c.real == Real::float64 ? "__fma_rn" : "__fmaf_rn"}};
  std::string text = fmt::format("// Written by Ondula {}.\n", c.names.version) + cuda_header(named, c.real) +
                     "#include \"" + c.base() + ".h\"\n";
  text += filled(templates::standalone_prelude, values) + cuda_kernels(named, c.real) + "\n}  // namespace\n";
  text += filled(templates::standalone_images_cuda, values);
  if (step.direction() == "forward") text += filled(templates::standalone_points_cuda, values);
  text += "\nnamespace {\n";
  for (const ir::CudaKernel& kernel : step.cuda->kernels) text += launch(c, step, kernel);
  text += "\n}  // namespace\n";
  for (const StandalonePart& part : step.parts) {
    if (part.sweep >= 0) text += launcher(c, step, part.sweep);
    if (part.images.empty()) continue;
    text += fmt::format("\nextern \"C\" int {}(const {}_plan* plan, {}{}, void* stream) {{\n",
                        c.launcher(step, part), c.symbol(), step.adjoint() ? "[[maybe_unused]] " : "",
                        c.array_parameters(step));
    for (const std::string& field : part.images) {
      text += fmt::format("  repeat(*plan, plan->{}, {}->{}, (cudaStream_t)stream);\n",
                          StandaloneContext::images(step, field), step.adjoint() ? "adjoint" : "arrays",
                          c.written(step, field));
    }
    text += "  return (int)cudaGetLastError();\n}\n";
  }
  if (step.keeping()) text += standalone_kept_functions(c);
  return step.back() ? text + standalone_ring_functions(c) : text;
}

std::string standalone_cuda_places(const StandaloneContext& c, const StandaloneStep& step) {
  std::string out;
  for (const ir::CudaKernel& kernel : step.cuda->kernels) out += BoundsPrinter(c, step, kernel).print();
  return out;
}

}  // namespace ondula::emit
