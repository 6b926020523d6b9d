// cuda_text: CUDA kernels as header-free text, one program per direction.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "compiler/emit/manifest.hpp"
#include "compiler/ir/cuda.hpp"

namespace ondula::emit {

/// The CUDA C++ of all kernels of `program`, then those every program has (templates/cuda_points.cu.in): halo
/// images, injection, sampling, the largest magnitude. No include, no macro expected from outside; made for
/// NVRTC with --fmad=false. Each kernel is extern "C" with the arguments of ir::CudaKernel, in order. `real`
/// must have the program's element size; InternalError otherwise.
std::string cuda_text(const ir::CudaProgram& program, Real real);

/// Its two parts that depend on the program: comment lines on what it computes, and its own kernels, whose
/// text wants the names of templates/cuda_prelude.cu.in: real, index, fma, ONDULA_KERNEL.
std::string cuda_header(const ir::CudaProgram& program, Real real);
std::string cuda_kernels(const ir::CudaProgram& program, Real real);

}  // namespace ondula::emit
