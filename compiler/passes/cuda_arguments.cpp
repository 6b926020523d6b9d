// Which arguments a CUDA kernel has.
// SPDX-License-Identifier: MIT
#include "compiler/passes/cuda_arguments.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace ondula::passes {
namespace {

using ir::CudaArgument;
using Kind = ir::CudaArgument::Kind;

/// What a kernel may pass by value on every architecture, less room for the integers.
constexpr std::size_t parameter_bytes = 4096;

class Signature {
 public:
  Signature(const ir::KernelSet& set, const ir::CudaKernel& kernel, bool shots)
      : program_(set.program),
        kernel_(kernel),
        shots_(shots),
        source_(set.kernels[static_cast<std::size_t>(kernel.sweep)]) {}

  std::vector<CudaArgument> run() {
    use();
    for (std::size_t a = 0; a < source_.arrays.size(); ++a) {
      if (arrays_.contains(source_.arrays[a].local))
        add(source_.arrays[a].identifier, {.kind = Kind::array, .array = static_cast<int>(a)});
    }
    strides();
    if (shots_) shots();
    ranges();
    regions();
    if (kernel_.march) add("planes", {.kind = Kind::planes});
    scalars();
    return std::move(result_);
  }

 private:
  void add(const std::string& name, CudaArgument argument) {
    argument.name = name;
    result_.push_back(std::move(argument));
  }

  std::string axis(int a) const { return program_.axes[static_cast<std::size_t>(a)]; }

  void use() {
    for (const ir::CudaBlock& block : kernel_.blocks) {
      for (const ir::CudaPiece& piece : block.pieces) {
        for (const ir::Let& let : piece.lets) walk(let.value);
        for (const ir::CudaStore& store : piece.stores) {
          arrays_.insert(store.array);
          walk(store.value);
        }
      }
    }
  }

  void walk(ir::Expr e) {
    if (e->kind == ir::Kind::symbol) scalars_.insert(e->name);
    if (e->kind == ir::Kind::field || e->kind == ir::Kind::coefficient || e->kind == ir::Kind::profile)
      arrays_.insert(e->name);
    for (const ir::Expr arg : e->args) walk(arg);
  }

  void strides() {
    const int inner = program_.dims() - 1;
    for (int o = 0; o < inner; ++o) add("s_" + axis(o), {.kind = Kind::stride, .axis = o});
    for (std::size_t a = 0; a < source_.arrays.size(); ++a) {
      const ir::ArrayArgument& array = source_.arrays[a];
      if (array.side < 0 || array.kind != ir::ArrayKind::field || !arrays_.contains(array.local)) continue;
      for (int o = 0; o < inner; ++o) {
        add(fmt::format("s_{}_{}", array.identifier, axis(o)),
            {.kind = Kind::strip_stride, .array = static_cast<int>(a), .axis = o});
      }
    }
  }

  void shots() {
    add("s_shot", {.kind = Kind::shot_stride});
    std::set<int> axes;
    for (const ir::ArrayArgument& array : source_.arrays) {
      if (array.side >= 0 && array.kind == ir::ArrayKind::field && arrays_.contains(array.local))
        axes.insert(program_.field(array.name).strip_axis);
    }
    for (const int a : axes) add("s_shot_" + axis(a), {.kind = Kind::shot_stride, .axis = a});
    if (program_.dims() == 3) add("strip_bits", {.kind = Kind::strip_bits});
  }

  void ranges() {
    for (int a = 0; a < program_.dims(); ++a) {
      for (int end = 0; end < 2; ++end)
        add((end == 0 ? "begin_" : "end_") + axis(a), {.kind = Kind::box, .axis = a, .end = end});
    }
    for (std::size_t r = 0; r < kernel_.ranges.size(); ++r) {
      if (!cuda_guarded(kernel_, static_cast<int>(r))) continue;
      const int a = kernel_.ranges[r].axis;
      for (int end = 0; end < 2; ++end) {
        add(fmt::format("{}_{}{}", end == 0 ? "begin" : "end", axis(a), r),
            {.kind = Kind::live, .axis = a, .item = static_cast<int>(r), .end = end});
      }
    }
  }

  void regions() {
    std::set<int> axes;
    for (std::size_t r = 0; r < kernel_.regions.size(); ++r) {
      const ir::CudaRegion& region = kernel_.regions[r];
      axes.insert(region.axis);
      for (int side = 0; side < 2; ++side) {
        for (int end = 0; end < 2; ++end) {
          add(fmt::format("{}_{}_{}", cuda_region_name(program_, region), side == 0 ? "lo" : "hi",
                          end == 0 ? "begin" : "end"),
              {.kind = Kind::region,
               .axis = region.axis,
               .item = static_cast<int>(r),
               .side = side,
               .end = end});
        }
      }
    }
    for (const int a : axes) {
      for (int side = 0; side < 2; ++side)
        add(fmt::format("close_{}_{}", axis(a), side == 0 ? "lo" : "hi"),
            {.kind = Kind::close, .axis = a, .side = side});
    }
  }

  void scalars() {
    constexpr std::size_t widest = 8;  // every argument at most, padding included
    if ((result_.size() + scalars_.size()) * widest > parameter_bytes) {
      add("scalars", {.kind = Kind::scalars});
      return;
    }
    for (const std::string& name : source_.scalars) {
      if (scalars_.contains(name)) add(name, {.kind = Kind::scalar});
    }
  }

  const ir::Program& program_;
  const ir::CudaKernel& kernel_;
  bool shots_;
  const ir::Kernel& source_;
  std::set<std::string> arrays_, scalars_;
  std::vector<CudaArgument> result_;
};

}  // namespace

std::vector<CudaArgument> cuda_arguments(const ir::KernelSet& set, const ir::CudaKernel& kernel, bool shots) {
  return Signature(set, kernel, shots).run();
}

std::string cuda_region_name(const ir::Program& program, const ir::CudaRegion& region) {
  return fmt::format("{}_{}{}{}", region.kind == ir::RegionKind::strip ? "strip" : "apron",
                     program.axes[static_cast<std::size_t>(region.axis)], region.half ? "_half" : "",
                     region.beyond.empty() ? "" : "_beyond");
}

bool cuda_guarded(const ir::CudaKernel& kernel, int range) {
  const int axis = kernel.ranges[static_cast<std::size_t>(range)].axis;
  return std::count_if(kernel.ranges.begin(), kernel.ranges.end(),
                       [&](const ir::CudaRange& r) { return r.axis == axis; }) > 1;
}

}  // namespace ondula::passes
