// The CUDA kernels of one step: scheduled for a device and a grid, printed, compiled.
// SPDX-License-Identifier: MIT
#pragma once

#include <memory>

#include "compiler/ir/cuda.hpp"
#include "compiler/ir/domain.hpp"
#include "compiler/passes/cuda_schedule.hpp"
#include "compiler/passes/pipeline.hpp"
#include "runtime/jit/cuda_compiler.hpp"
#include "runtime/types.hpp"

namespace ondula::loop {

/// What was scheduled, and its binary.
struct CudaKernels {
  ir::CudaProgram program;
  std::shared_ptr<const jit::CudaModule> module;
};

/// Kernels before they are compiled.
struct CudaSource {
  ir::CudaProgram program;
  jit::KernelSource text;
  jit::CudaArchitecture architecture;
};

/// Kernels for `architecture` of a compilation with Target::cuda, on any grid whose largest element offset
/// needs as many bits as on `domain` with at least `least_halo` cells of halo. Compilations that share
/// expressions come here one at a time. `shots` as in ir::CudaTarget.
CudaSource cuda_source(const passes::Compilation& compilation, const ir::Domain& domain, DType dtype,
                       int least_halo, const jit::CudaArchitecture& architecture, bool shots);

/// The same kernels with other shapes; `source` stays as it is. Comes one at a time too.
CudaSource with_shapes(const CudaSource& source, const passes::CudaShapes& shapes);

/// From several threads at once. Throws as CudaCompiler does.
std::shared_ptr<const CudaKernels> compile_cuda(CudaSource source, jit::CudaCompiler& compiler);

/// 32 or 64: the width of indices that the arrays of `set` need on `domain`.
int cuda_index_width(const ir::KernelSet& set, const ir::Domain& domain, DType dtype, int least_halo);

}  // namespace ondula::loop
