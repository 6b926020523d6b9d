// The JSON manifest of a CUDA program.
// SPDX-License-Identifier: MIT
#include "compiler/emit/cuda_manifest.hpp"

#include <nlohmann/json.hpp>

namespace ondula::emit {
namespace {

using nlohmann::ordered_json;

ordered_json argument_json(const ir::CudaProgram& program, const ir::CudaKernel& kernel,
                           const ir::CudaArgument& a) {
  static constexpr std::array<const char*, 12> kinds = {"array",  "stride",  "strip_stride", "box",
                                                        "live",   "region",  "close",        "planes",
                                                        "scalar", "scalars", "shot_stride",  "strip_bits"};
  const ir::Kernel& source = program.set.kernels[static_cast<std::size_t>(kernel.sweep)];
  ordered_json out = {{"name", a.name}, {"kind", kinds.at(static_cast<std::size_t>(a.kind))}};
  if (a.array >= 0) {
    static constexpr std::array<const char*, 3> arrays = {"field", "coefficient", "profile"};
    const ir::ArrayArgument& array = source.arrays[static_cast<std::size_t>(a.array)];
    out["array"] = {{"kind", arrays.at(static_cast<std::size_t>(array.kind))},
                    {"name", array.name},
                    {"slot", array.slot},
                    {"side", array.side},
                    {"written", array.written}};
  }
  if (a.axis >= 0) out["axis"] = program.set.program.axes[static_cast<std::size_t>(a.axis)];
  return out;
}

ordered_json kernel_json(const ir::CudaProgram& program, const ir::CudaKernel& kernel) {
  ordered_json out;
  out["name"] = kernel.name;
  for (const ir::CudaArgument& argument : kernel.arguments)
    out["arguments"].push_back(argument_json(program, kernel, argument));
  out["schedule"] = kernel.march ? "march" : "plain";
  out["threads"] = kernel.block;
  out["min_blocks"] = kernel.min_blocks;
  const ir::CudaFigures& figures = kernel.figures;
  out["per_point"] = {{"flops", figures.flops},       {"loads", figures.loads},
                      {"stores", figures.stores},     {"dram_bytes", figures.dram_bytes},
                      {"l2_bytes", figures.l2_bytes}, {"l1_wavefronts_per_warp", figures.l1_wavefronts}};
  out["interior"] = kernel.strip_axis < 0;
  return out;
}

}  // namespace

std::string cuda_manifest(const ir::CudaProgram& cuda) {
  const ir::Program& program = cuda.set.program;
  ordered_json out;
  out["equation"] = program.equation;
  out["direction"] = program.direction;
  out["axes"] = program.axes;
  out["order"] = program.order;
  out["dtype"] = cuda.target.element_bytes == 4 ? "float32" : "float64";
  out["architecture"] = "sm_" + std::to_string(cuda.target.sm);
  out["index_bits"] = cuda.target.index_bits;
  out["shots"] = cuda.target.shots;
  for (const ir::Coefficient& c : program.coefficients)
    out["coefficients"][c.name] = text(c.definition, program.axes);
  for (const ir::Scalar& s : program.scalars) out["scalars"][s.name] = text(s.definition, program.axes);
  for (const ir::CudaKernel& kernel : cuda.kernels) out["kernels"].push_back(kernel_json(cuda, kernel));
  return out.dump(1);
}

}  // namespace ondula::emit
