// Entry points: the driver itself, its errors, its devices.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cstring>
#include <iterator>
#include <string>

#include "runtime/device/sim/driver_call.hpp"
#include "runtime/device/sim/driver_entries.hpp"

namespace ondula::sim::driver {
namespace {

struct Error {
  cuda::Result code;
  const char* name;
  const char* text;
};

constexpr Error errors[] = {
    {0, "CUDA_SUCCESS", "no error"},
    {1, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {2, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {3, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    {4, "CUDA_ERROR_DEINITIALIZED", "driver shutting down"},
    {34, "CUDA_ERROR_STUB_LIBRARY", "CUDA driver is a stub library"},
    {35, "CUDA_ERROR_INSUFFICIENT_DRIVER", "CUDA driver version is insufficient for CUDA runtime version"},
    {36, "CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER", "API call requires a newer CUDA driver"},
    {46, "CUDA_ERROR_DEVICE_UNAVAILABLE", "CUDA-capable device(s) is/are busy or unavailable"},
    {100, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    {101, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {200, "CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid"},
    {201, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {209, "CUDA_ERROR_NO_BINARY_FOR_GPU", "no kernel image is available for execution on the device"},
    {222, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION",
     "the provided PTX was compiled with an unsupported toolchain"},
    {300, "CUDA_ERROR_INVALID_SOURCE", "device kernel image is invalid"},
    {400, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
    {401, "CUDA_ERROR_ILLEGAL_STATE", "the operation cannot be performed in the present state"},
    {500, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {600, "CUDA_ERROR_NOT_READY", "device not ready"},
    {700, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
    {701, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", "too many resources requested for launch"},
    {702, "CUDA_ERROR_LAUNCH_TIMEOUT", "the launch timed out and was terminated"},
    {709, "CUDA_ERROR_CONTEXT_IS_DESTROYED", "context is destroyed"},
    {719, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
    {802, "CUDA_ERROR_SYSTEM_NOT_READY", "system not yet initialized"},
    {803, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH",
     "system has unsupported display driver / cuda driver combination"},
    {900, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED", "operation not permitted when stream is capturing"},
    {901, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED", "operation failed due to a previous error during capture"},
    {902, "CUDA_ERROR_STREAM_CAPTURE_MERGE",
     "operation would result in a merge of separate capture sequences"},
    {903, "CUDA_ERROR_STREAM_CAPTURE_UNMATCHED", "capture was not ended in the same stream as it began"},
    {904, "CUDA_ERROR_STREAM_CAPTURE_UNJOINED", "capturing stream has unjoined work"},
    {905, "CUDA_ERROR_STREAM_CAPTURE_ISOLATION", "dependency created on uncaptured work in another stream"},
    {906, "CUDA_ERROR_STREAM_CAPTURE_IMPLICIT",
     "operation would make the legacy stream depend on a capturing blocking stream"},
    {907, "CUDA_ERROR_CAPTURED_EVENT",
     "operation not permitted on an event last recorded in a capturing stream"},
    {908, "CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD",
     "attempt to terminate a thread-local capture sequence from another thread"},
    {999, "CUDA_ERROR_UNKNOWN", "unknown error"},
};

const Error* find_error(cuda::Result code) {
  const auto* const at = std::find_if(std::begin(errors), std::end(errors),
                                      [&](const Error& error) { return error.code == code; });
  return at == std::end(errors) ? nullptr : at;
}

void require_device(const World& world, cuda::DeviceNumber device) {
  if (device < 0 || device >= world.configuration.devices) throw Refusal{cuda::result::invalid_device};
}

int attribute_value(const Configuration& c, int which) {
  switch (which) {
    case cuda::attribute::max_threads_per_block:
      return 1024;
    case 2:
    case 3:
      return 1024;  // MAX_BLOCK_DIM_X, _Y
    case 4:
      return 64;  // MAX_BLOCK_DIM_Z
    case cuda::attribute::max_grid_x:
      return 2147483647;
    case cuda::attribute::max_grid_y:
    case cuda::attribute::max_grid_z:
      return 65535;
    case 8:
      return 49152;  // MAX_SHARED_MEMORY_PER_BLOCK
    case cuda::attribute::warp_size:
      return 32;
    case 12:
      return 65536;  // MAX_REGISTERS_PER_BLOCK
    case cuda::attribute::clock_rate:
      return 1000000;
    case cuda::attribute::multiprocessors:
      return c.multiprocessors;
    case cuda::attribute::memory_clock:
      return 1000000;
    case cuda::attribute::memory_bus_width:
      return 64;
    case cuda::attribute::l2_bytes:
      return 4 << 20;
    case 39:
      return 2048;  // MAX_THREADS_PER_MULTIPROCESSOR
    case 41:
      return 1;  // UNIFIED_ADDRESSING
    case cuda::attribute::capability_major:
      return c.capability / 10;
    case cuda::attribute::capability_minor:
      return c.capability % 10;
    case 81:
      return 102400;  // MAX_SHARED_MEMORY_PER_MULTIPROCESSOR
    case 97:
      return 101376;  // MAX_SHARED_MEMORY_PER_BLOCK_OPTIN
    default:
      throw Refusal{cuda::result::invalid_value};
  }
}

}  // namespace
}  // namespace ondula::sim::driver

using namespace ondula;               // NOLINT: the definitions below belong to no namespace
using namespace ondula::sim::driver;  // NOLINT

cuda::Result cuInit(unsigned flags) {
  return driver_call("cuInit", false, [&](World& world) {
    require(flags == 0);
    if (!Process::get().sound) throw Refusal{cuda::result::invalid_value};
    if (world.configuration.devices == 0) throw Refusal{cuda::result::no_device};
    world.initialized = true;
  });
}

cuda::Result cuDriverGetVersion(int* version) {
  return driver_call("cuDriverGetVersion", false, [&](World& world) {
    require(version != nullptr);
    *version = world.configuration.driver_version;
  });
}

cuda::Result cuGetErrorName(cuda::Result error, const char** text) {
  if (text == nullptr) return cuda::result::invalid_value;
  const Error* const found = find_error(error);
  *text = found == nullptr ? nullptr : found->name;
  return found == nullptr ? cuda::result::invalid_value : cuda::result::success;
}

cuda::Result cuGetErrorString(cuda::Result error, const char** text) {
  if (text == nullptr) return cuda::result::invalid_value;
  const Error* const found = find_error(error);
  *text = found == nullptr ? nullptr : found->text;
  if (found == nullptr) return cuda::result::invalid_value;
  Process& process = Process::get();
  const std::lock_guard lock(process.mutex);
  const char* const told = process.world ? process.world->error_text(error) : nullptr;
  if (told != nullptr) *text = told;
  return cuda::result::success;
}

cuda::Result cuDeviceGetCount(int* count) {
  return driver_call("cuDeviceGetCount", true, [&](World& world) {
    require(count != nullptr);
    *count = world.configuration.devices;
  });
}

cuda::Result cuDeviceGet(cuda::DeviceNumber* device, int ordinal) {
  return driver_call("cuDeviceGet", true, [&](World& world) {
    require(device != nullptr);
    require_device(world, ordinal);
    *device = ordinal;
  });
}

cuda::Result cuDeviceGetName(char* name, int size, cuda::DeviceNumber device) {
  return driver_call("cuDeviceGetName", true, [&](World& world) {
    require(name != nullptr && size > 0);
    require_device(world, device);
    const int capability = world.configuration.capability;
    const std::string text =
        "cuda-sim " + std::to_string(capability / 10) + "." + std::to_string(capability % 10);
    const std::size_t length = std::min(text.size(), static_cast<std::size_t>(size) - 1);
    std::memcpy(name, text.data(), length);
    name[length] = '\0';
  });
}

cuda::Result cuDeviceGetAttribute(int* value, int attribute, cuda::DeviceNumber device) {
  return driver_call("cuDeviceGetAttribute", true, [&](World& world) {
    require(value != nullptr);
    require_device(world, device);
    *value = attribute_value(world.configuration, attribute);
  });
}

cuda::Result cuDeviceTotalMem_v2(std::size_t* bytes, cuda::DeviceNumber device) {
  return driver_call("cuDeviceTotalMem_v2", true, [&](World& world) {
    require(bytes != nullptr);
    require_device(world, device);
    *bytes = world.configuration.memory;
  });
}

cuda::Result cuDeviceGetUuid_v2(void* uuid, cuda::DeviceNumber device) {
  return driver_call("cuDeviceGetUuid_v2", true, [&](World& world) {
    constexpr std::size_t bytes = 16;
    require(uuid != nullptr);
    require_device(world, device);
    std::string text = "cuda-sim " + std::to_string(device);
    text.resize(bytes, '\0');
    std::memcpy(uuid, text.data(), bytes);
  });
}
