// Entry points: primary contexts, created ones, and each thread's stack of them.
// SPDX-License-Identifier: MIT
#include "runtime/device/sim/driver_call.hpp"
#include "runtime/device/sim/driver_capture.hpp"
#include "runtime/device/sim/driver_entries.hpp"

namespace ondula::sim::driver {
namespace {

void require_device(const World& world, cuda::DeviceNumber device) {
  if (device < 0 || device >= world.configuration.devices) throw Refusal{cuda::result::invalid_device};
}

ContextObject& found_context(const World& world, cuda::Context handle) {
  ContextObject* const context = world.contexts.find(handle);
  if (context == nullptr) throw Refusal{cuda::result::invalid_context};
  return *context;
}

}  // namespace
}  // namespace ondula::sim::driver

using namespace ondula;               // NOLINT: what follows belongs to no namespace
using namespace ondula::sim::driver;  // NOLINT

cuda::Result cuDevicePrimaryCtxRetain(cuda::Context* context, cuda::DeviceNumber device) {
  return driver_call("cuDevicePrimaryCtxRetain", true, [&](World& world) {
    require(context != nullptr);
    require_device(world, device);
    ContextObject* primary = world.primary(device);
    if (primary != nullptr && primary->poison != 0) throw Refusal{primary->poison};
    if (primary == nullptr)
      primary = &world.create_context(device, 1);
    else
      ++primary->references;
    *context = primary->handle;
  });
}

cuda::Result cuDevicePrimaryCtxRelease_v2(cuda::DeviceNumber device) {
  return counted_call("cuDevicePrimaryCtxRelease_v2", true, [&](World& world, cuda::Result planned) {
    if (!world.initialized) return cuda::result::not_initialized;
    const cuda::Result result = guarded(world, [&] {
      require_device(world, device);
      ContextObject* const primary = world.primary(device);
      if (primary == nullptr) throw Refusal{cuda::result::invalid_context};
      if (--primary->references == 0) world.destroy_context(*primary);
    });
    return planned != 0 ? planned : result;
  });
}

cuda::Result cuDevicePrimaryCtxReset_v2(cuda::DeviceNumber device) {
  return driver_call("cuDevicePrimaryCtxReset_v2", true, [&](World& world) {
    require_device(world, device);
    if (ContextObject* const primary = world.primary(device)) world.destroy_context(*primary);
  });
}

cuda::Result cuCtxCreate_v2(cuda::Context* context, unsigned, cuda::DeviceNumber device) {
  return driver_call("cuCtxCreate_v2", true, [&](World& world) {
    require(context != nullptr);
    require_device(world, device);
    *context = world.create_context(device, 0).handle;
    context_stack().push_back(*context);
  });
}

cuda::Result cuCtxDestroy_v2(cuda::Context context) {
  return driver_call("cuCtxDestroy_v2", true, [&](World& world) {
    ContextObject& found = found_context(world, context);
    if (found.references > 0) throw Refusal{cuda::result::invalid_context};
    world.destroy_context(found);
    std::vector<cuda::Context>& stack = context_stack();
    if (!stack.empty() && stack.back() == context) stack.pop_back();
  });
}

cuda::Result cuCtxPushCurrent_v2(cuda::Context context) {
  return driver_call("cuCtxPushCurrent_v2", true, [&](World& world) {
    found_context(world, context);
    context_stack().push_back(context);
  });
}

// A context that a planned fault leaves on the stack would spoil all that the thread does later, so the call
// pops it even then.
cuda::Result cuCtxPopCurrent_v2(cuda::Context* context) {
  return counted_call("cuCtxPopCurrent_v2", true, [&](World& world, cuda::Result planned) {
    if (!world.initialized) return cuda::result::not_initialized;
    std::vector<cuda::Context>& stack = context_stack();
    if (stack.empty()) return cuda::result::invalid_context;
    if (context != nullptr) *context = stack.back();
    stack.pop_back();
    return planned;
  });
}

cuda::Result cuCtxSetCurrent(cuda::Context context) {
  return driver_call("cuCtxSetCurrent", true, [&](World& world) {
    std::vector<cuda::Context>& stack = context_stack();
    if (context != nullptr) found_context(world, context);
    if (!stack.empty()) stack.pop_back();
    if (context != nullptr) stack.push_back(context);
  });
}

cuda::Result cuCtxGetCurrent(cuda::Context* context) {
  return driver_call("cuCtxGetCurrent", true, [&](World&) {
    require(context != nullptr);
    *context = context_stack().empty() ? nullptr : context_stack().back();
  });
}

cuda::Result cuCtxGetDevice(cuda::DeviceNumber* device) {
  return driver_call("cuCtxGetDevice", true, [&](World& world) {
    require(device != nullptr);
    *device = current_context(world).device;
  });
}

cuda::Result cuCtxSynchronize() {
  return context_call("cuCtxSynchronize", Kind::plain, [](World& world, ContextObject& context) {
    refuse_while_capturing(world, context);
    refuse_unsafe(world);
    world.finish(context);
  });
}
