// From a compilation to a cubin.
// SPDX-License-Identifier: MIT
#include "runtime/loop/cuda_kernels.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "compiler/emit/cuda_launch.hpp"
#include "compiler/emit/cuda_manifest.hpp"
#include "compiler/emit/cuda_text.hpp"
#include "runtime/loop/arrays.hpp"

namespace ondula::loop {

int cuda_index_width(const ir::KernelSet& set, const ir::Domain& domain, DType dtype, int least_halo) {
  const std::size_t element = dtype == DType::float32 ? sizeof(float) : sizeof(double);
  const std::vector<ArrayPlan> plans = plan_arrays(set, domain, element, least_halo);
  const ShotStrides strides = shot_strides(plans, element);
  // Offsets count within one shot's copy; copies are apart by a stride of the same width.
  std::int64_t largest =
      std::max(strides.full, *std::max_element(strides.strip.begin(), strides.strip.end()));
  for (const ArrayPlan& plan : plans) {
    // Kernels count from the entry at index 0, which a strip's array may lie far from.
    largest =
        std::max({largest, std::abs(plan.layout.origin), std::abs(plan.layout.size - plan.layout.origin)});
  }
  return emit::cuda_index_bits(domain, largest);
}

namespace {

CudaSource printed(ir::CudaProgram program, std::string equation, const jit::CudaArchitecture& architecture) {
  const emit::Real real = program.target.element_bytes == 4 ? emit::Real::float32 : emit::Real::float64;
  CudaSource made;
  made.program = std::move(program);
  made.text = {
      emit::cuda_text(made.program, real), std::move(equation), {}, emit::cuda_manifest(made.program)};
  made.architecture = architecture;
  return made;
}

}  // namespace

CudaSource cuda_source(const passes::Compilation& compilation, const ir::Domain& domain, DType dtype,
                       int least_halo, const jit::CudaArchitecture& architecture, bool shots) {
  const ir::CudaTarget target{architecture.number(), dtype == DType::float32 ? 4 : 8,
                              cuda_index_width(compilation.kernels, domain, dtype, least_halo), shots};
  return printed(passes::cuda_schedule(compilation.kernels, target), compilation.physical.equation,
                 architecture);
}

CudaSource with_shapes(const CudaSource& source, const passes::CudaShapes& shapes) {
  const ir::CudaProgram& program = source.program;
  return printed(passes::cuda_schedule(program.set, program.target, shapes), source.text.equation,
                 source.architecture);
}

std::shared_ptr<const CudaKernels> compile_cuda(CudaSource source, jit::CudaCompiler& compiler) {
  auto made = std::make_shared<CudaKernels>();
  made->module = compiler.compile(source.text, source.architecture);
  made->program = std::move(source.program);
  return made;
}

}  // namespace ondula::loop
