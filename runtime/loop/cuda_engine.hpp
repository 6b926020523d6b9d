// The engine over CUDA kernels.
// SPDX-License-Identifier: MIT
#pragma once

#include <memory>

#include "runtime/device/cuda/device.hpp"
#include "runtime/loop/cuda_kernels.hpp"
#include "runtime/loop/engine.hpp"

namespace ondula::loop {

/// `compilation` is the one `kernels` were made of, `device` the one they were compiled for. With `graphs`
/// many steps are one launch. Throws UserError where the domain has a free surface that the equation refuses,
/// RuntimeError where memory ends or the driver refuses the kernels.
std::unique_ptr<Engine> make_cuda_engine(const passes::Compilation& compilation, const EngineSetup& setup,
                                         cuda::Device& device, std::shared_ptr<const CudaKernels> kernels,
                                         bool graphs);

}  // namespace ondula::loop
