// The engine over CUDA kernels.
// SPDX-License-Identifier: MIT
#pragma once

#include <memory>

#include "runtime/device/cuda/device.hpp"
#include "runtime/loop/cuda_kernels.hpp"
#include "runtime/loop/cuda_points.hpp"
#include "runtime/loop/engine.hpp"

namespace ondula::loop {

/// `compilation` is the one `kernels` were made of, `device` the one they were compiled for. With `graphs`
/// many steps are one launch. Throws UserError where the domain has a free surface that the equation refuses,
/// RuntimeError where memory ends or the driver refuses the kernels.
std::unique_ptr<Engine> make_cuda_engine(const passes::Compilation& compilation, const EngineSetup& setup,
                                         cuda::Device& device, std::shared_ptr<const CudaKernels> kernels,
                                         bool graphs);

/// Bytes a CUDA engine of so many shots allocates on its device, without allocating them, for steps of which
/// every `every`-th is sampled. `points` are those of all shots that run at once.
std::size_t cuda_engine_bytes(const passes::Compilation& compilation, const ir::Domain& domain, DType dtype,
                              int least_halo, std::int64_t shots, std::int64_t every,
                              const PointCounts& points);
/// What of them comes with the first shots.
std::size_t cuda_points_bytes(DType dtype, std::int64_t every, const PointCounts& points);
/// Bytes of so many buffers of a history.
std::size_t cuda_history_bytes(const passes::Compilation& compilation, const ir::Domain& domain, DType dtype,
                               int least_halo, std::int64_t shots, std::size_t buffers);

}  // namespace ondula::loop
