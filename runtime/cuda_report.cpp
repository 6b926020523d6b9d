// From an equation to compiled CUDA kernels and what they take.
// SPDX-License-Identifier: MIT
#include "runtime/cuda_report.hpp"

#include <fmt/format.h>

#include "compiler/emit/cuda_manifest.hpp"
#include "compiler/emit/cuda_text.hpp"
#include "compiler/error.hpp"
#include "compiler/passes/cuda_schedule.hpp"
#include "compiler/passes/pipeline.hpp"

namespace ondula {

CudaText cuda_text_of(const EquationDefinition& definition, const CudaReportOptions& options) {
  passes::PipelineOptions pipeline;
  pipeline.axes = default_axes(options.dims);
  pipeline.order = options.order;
  pipeline.stretched = options.stretched;
  pipeline.target = passes::Target::cuda;
  ir::CudaTarget target;
  target.sm = options.architecture.number();
  target.element_bytes = options.real == emit::Real::float32 ? 4 : 8;
  target.shots = options.shots;
  CudaText text;
  if (options.direction == Direction::forward) {
    text.program = passes::cuda_schedule(passes::compile(definition, pipeline).kernels, target);
  } else {
    const bool rebuilds = options.direction == Direction::rebuilding;
    const passes::AdjointCompilation both = passes::compile_adjoint(definition, pipeline, false, rebuilds);
    const bool back = options.direction != Direction::keeping;
    text.program = passes::cuda_schedule((back ? both.backward : both.forward).kernels, target);
  }
  text.source.text = emit::cuda_text(text.program, options.real);
  text.source.equation = definition.name();
  text.source.options = options.nvrtc_options;
  text.source.manifest = emit::cuda_manifest(text.program);
  return text;
}

const jit::SassCounts& CudaKernelReport::counts() const {
  return kernel.march && use.code.loop.instructions > 0 ? use.code.loop : use.code.all;
}

PointCost CudaKernelReport::cost() const {
  const ir::CudaFigures& figures = kernel.figures;
  return {static_cast<double>(figures.flops), figures.dram_bytes, figures.l2_bytes, figures.l1_wavefronts};
}

double CudaReport::memory_bytes() const {
  double bytes = 0;
  for (const CudaKernelReport& report : kernels)
    if (report.kernel.strip_axis < 0) bytes += report.kernel.figures.dram_bytes;
  return bytes;
}

CudaReport report_cuda(const CudaText& text, const jit::CudaArchitecture& architecture,
                       jit::CudaCompiler& compiler) {
  CudaReport report;
  report.module = compiler.compile(text.source, architecture);
  for (const bool strips : {false, true}) {
    for (const ir::CudaKernel& kernel : text.program.kernels) {
      if ((kernel.strip_axis >= 0) != strips) continue;
      CudaKernelReport entry{kernel, {}};
      for (const jit::KernelUse& use : report.module->use().kernels)
        if (use.name == kernel.name) entry.use = use;
      if (entry.use.name.empty() && !architecture.portable)
        throw InternalError(
            fmt::format("the cubin of '{}' lacks the kernel '{}'", text.source.equation, kernel.name));
      report.kernels.push_back(std::move(entry));
    }
  }
  return report;
}

}  // namespace ondula
