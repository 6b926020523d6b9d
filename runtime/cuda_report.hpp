// Compiles an equation's CUDA kernels and tells what each of them takes, without a GPU.
// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "compiler/dsl/dsl.hpp"
#include "compiler/emit/manifest.hpp"
#include "compiler/ir/cuda.hpp"
#include "runtime/gpus.hpp"
#include "runtime/jit/cuda_compiler.hpp"

namespace ondula {

/// Which step: the forward one, the one that also computes what a gradient wants kept, the adjoint, or the
/// adjoint beside the interior's reversed step.
enum class Direction { forward, keeping, adjoint, rebuilding };

/// What CUDA kernels depend on.
struct CudaReportOptions {
  Direction direction = Direction::forward;
  int dims = 3;
  int order = 8;
  bool stretched = false;  ///< CPML with kappa != 1
  bool shots = false;      ///< as in ir::CudaTarget
  emit::Real real = emit::Real::float32;
  jit::CudaArchitecture architecture = {9, 0, "", false};
  std::vector<std::string> nvrtc_options;
};

/// The CUDA text of one step of an equation, with 32-bit indices.
struct CudaText {
  ir::CudaProgram program;
  jit::KernelSource source;
};

/// States, schedules and prints the kernels; compiles nothing. Throws UserError for an order or a number of
/// dimensions that is not supported.
CudaText cuda_text_of(const EquationDefinition& definition, const CudaReportOptions& options);

/// One kernel as it was scheduled and as it was compiled.
struct CudaKernelReport {
  ir::CudaKernel kernel;
  jit::KernelUse use;
  /// The loads of global memory per point as they stand in the code: of the marching loop where there is one.
  const jit::SassCounts& counts() const;
  PointCost cost() const;
};

/// The kernels of one step: those that sweep the grid first, in order.
struct CudaReport {
  std::shared_ptr<const jit::CudaModule> module;
  std::vector<CudaKernelReport> kernels;
  /// Bytes of DRAM per interior point and step.
  double memory_bytes() const;
};

/// Compiles `text` and pairs its kernels with what the cubin says. Throws as CudaCompiler::compile().
CudaReport report_cuda(const CudaText& text, const jit::CudaArchitecture& architecture,
                       jit::CudaCompiler& compiler);

}  // namespace ondula
