// Declares every function that the stand-in driver exports, by the driver's own table.
// SPDX-License-Identifier: MIT
#pragma once

#include "runtime/device/cuda/driver.hpp"

extern "C" {
#pragma GCC visibility push(default)
#define ONDULA_SIM_DECLARE(member, name, arguments) ::ondula::cuda::Result name arguments;
ONDULA_CUDA_DRIVER(ONDULA_SIM_DECLARE)
#undef ONDULA_SIM_DECLARE

// Beside the table: what callers of their own contexts and streams, and tests, use.
ondula::cuda::Result cuDeviceGetUuid_v2(void* uuid, ondula::cuda::DeviceNumber device);
ondula::cuda::Result cuDevicePrimaryCtxReset_v2(ondula::cuda::DeviceNumber device);
ondula::cuda::Result cuCtxCreate_v2(ondula::cuda::Context* context, unsigned flags,
                                    ondula::cuda::DeviceNumber device);
ondula::cuda::Result cuCtxDestroy_v2(ondula::cuda::Context context);
ondula::cuda::Result cuCtxSetCurrent(ondula::cuda::Context context);
ondula::cuda::Result cuStreamIsCapturing(ondula::cuda::Stream stream, int* status);
ondula::cuda::Result cuStreamGetCtx(ondula::cuda::Stream stream, ondula::cuda::Context* context);
ondula::cuda::Result cuFuncSetAttribute(ondula::cuda::Function function, int attribute, int value);
ondula::cuda::Result cuModuleLoadData(ondula::cuda::Module* module, const void* image);
#pragma GCC visibility pop
}
