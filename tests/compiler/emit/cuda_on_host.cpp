// The loops over blocks and threads.
// SPDX-License-Identifier: MIT
#include "tests/compiler/emit/cuda_on_host.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/emit/cuda_launch.hpp"
#include "compiler/emit/manifest.hpp"

namespace ondula::test {
namespace {

using Kind = ir::CudaArgument::Kind;

class Wrapper {
 public:
  Wrapper(const ir::CudaProgram& program, const ir::Domain& domain, const Execution& execution)
      : program_(program), domain_(domain), execution_(execution) {}

  std::string entry(int sweep) const {
    std::string out = fmt::format(
        "extern \"C\" void {}(real* const* arrays, const long long* n, const real* scalars, const long long* "
        "tile) {{\n",
        source(sweep).name);
    for (int axis = 0; axis + 1 < domain_.dims; ++axis)
      out += fmt::format("  if (tile[{}] != 0) return;\n", 2 * axis);
    for (const ir::CudaKernel& kernel : program_.kernels) {
      if (kernel.sweep == sweep) out += launch(kernel);
    }
    return out + "}\n";
  }

  const ir::Kernel& source(int sweep) const { return program_.set.kernels[static_cast<std::size_t>(sweep)]; }

 private:
  std::string launch(const ir::CudaKernel& kernel) const {
    emit::CudaLaunch plan = emit::cuda_launch(program_, kernel, domain_, execution_.multiprocessors);
    if (plan.empty()) return "";
    if (execution_.most_blocks > 0) {
      if (!kernel.march) plan.grid[1] = std::min(plan.grid[1], execution_.most_blocks);
      plan.grid[2] = std::min(plan.grid[2], execution_.most_blocks);
    }
    std::vector<std::string> values;
    for (const ir::CudaArgument& argument : kernel.arguments) values.push_back(value(kernel, argument, plan));
    return fmt::format(
        "  gridDim = {{{}u, {}u, {}u}};\n  blockDim = {{{}u, {}u, 1u}};\n"
        "  ONDULA_EACH({}, {}, {}(\n      {}))\n",
        plan.grid[0], plan.grid[1], plan.grid[2], plan.block[0], plan.block[1], execution_.backwards ? 1 : 0,
        plan.grid[0] * plan.grid[1] * plan.grid[2], called(kernel), fmt::join(values, ",\n      "));
  }

  /// As the text calls it below the names' redefinition.
  std::string called(const ir::CudaKernel& kernel) const {
    return (kernel.strip_axis < 0 ? "cuda_" : "") + kernel.name;
  }

  std::string value(const ir::CudaKernel& kernel, const ir::CudaArgument& argument,
                    const emit::CudaLaunch& plan) const {
    const emit::ArgumentLayout layout(source(kernel.sweep), domain_.dims);
    const auto a = static_cast<std::size_t>(argument.array);
    switch (argument.kind) {
      case Kind::array:
        if (layout.strip(a) < 0) return fmt::format("arrays[{}]", a);
        return fmt::format("arrays[{0}] == nullptr ? nullptr : arrays[{0}] + n[{1}]", a, layout.strip(a));
      case Kind::stride:
        return fmt::format("(index)n[{}]", argument.axis);
      case Kind::strip_stride:
        return fmt::format("(index)n[{}]", layout.strip(a) + 1 + argument.axis);
      case Kind::planes:
        return std::to_string(plan.planes);
      case Kind::scalars:
        return "scalars";
      case Kind::scalar: {
        const auto& names = source(kernel.sweep).scalars;
        const auto at = std::find(names.begin(), names.end(), argument.name);
        return fmt::format("scalars[{}]", at - names.begin());
      }
      default:
        return std::to_string(emit::cuda_bound(program_, kernel, argument, domain_));
    }
  }

  const ir::CudaProgram& program_;
  const ir::Domain& domain_;
  const Execution& execution_;
};

}  // namespace

const char* const cuda_stand_in = R"(#define __global__
#define __launch_bounds__(...)
struct ondula_dim { unsigned x, y, z; };
static ondula_dim gridDim, blockDim, blockIdx, threadIdx;
[[maybe_unused]] static inline float __fmaf_rn(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
[[maybe_unused]] static inline double __fma_rn(double a, double b, double c) { return __builtin_fma(a, b, c); }
#define ONDULA_EACH(backwards, blocks, ...)                                                    \
  for (unsigned b = 0; b < (blocks); ++b) {                                                    \
    const unsigned at = backwards ? (blocks)-1 - b : b;                                        \
    blockIdx = {at % gridDim.x, at / gridDim.x % gridDim.y, at / (gridDim.x * gridDim.y)};     \
    for (unsigned t = 0; t < blockDim.x * blockDim.y; ++t) {                                   \
      const unsigned thread = backwards ? blockDim.x * blockDim.y - 1 - t : t;                 \
      threadIdx = {thread % blockDim.x, thread / blockDim.x, 0};                               \
      __VA_ARGS__;                                                                             \
    }                                                                                          \
  }
)";

std::string cuda_on_host(const ir::CudaProgram& program, emit::Real real, const ir::Domain& domain,
                         const Execution& execution) {
  const Wrapper wrapper(program, domain, execution);
  std::string names, entries;
  for (std::size_t k = 0; k < program.set.kernels.size(); ++k) {
    const std::string& name = program.set.kernels[k].name;
    names += fmt::format("#define {0} cuda_{0}\n", name);
    // The kernel of a whole sweep has the sweep's name; the entry point takes it back.
    entries += fmt::format("#undef {}\n", name);
    entries += wrapper.entry(static_cast<int>(k));
  }
  return cuda_stand_in + names + emit::cuda_text(program, real) + entries;
}

}  // namespace ondula::test
