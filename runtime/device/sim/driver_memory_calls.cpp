// Entry points: device memory, pinned memory, copies and fills.
// SPDX-License-Identifier: MIT
#include <cstdint>

#include "runtime/device/sim/driver_call.hpp"
#include "runtime/device/sim/driver_capture.hpp"
#include "runtime/device/sim/driver_entries.hpp"

namespace ondula::sim::driver {
namespace {

/// CUpointer_attribute and CUmemorytype, those that are answered.
constexpr int attribute_context = 1, attribute_device_pointer = 3, attribute_host_pointer = 4,
              attribute_managed = 8;
constexpr unsigned type_host = 1, type_device = 2;

std::uint64_t address_of(const void* pointer) { return reinterpret_cast<std::uint64_t>(pointer); }

/// Enqueues work, or captures it.
void add(World& world, StreamObject& stream, Work work) {
  refuse_implicit(world, stream);
  if (capturing(stream))
    capture(stream, std::move(work));
  else
    world.enqueue(stream, std::move(work));
}

void answer(const Allocation& allocation, bool device, int attribute, void* value, std::uint64_t asked) {
  switch (attribute) {
    case attribute_context:
      *static_cast<cuda::Context*>(value) = allocation.owner->handle;
      return;
    case cuda::pointer_memory_type:
      *static_cast<unsigned*>(value) = device ? type_device : type_host;
      return;
    case cuda::pointer_device_ordinal:
      *static_cast<int*>(value) = allocation.owner->device;
      return;
    case cuda::pointer_range_start:
      *static_cast<std::uint64_t*>(value) = allocation.address;
      return;
    case cuda::pointer_range_size:
      *static_cast<std::size_t*>(value) = allocation.bytes;
      return;
    case attribute_device_pointer:
      *static_cast<std::uint64_t*>(value) = asked;
      return;
    case attribute_host_pointer:
      require(!device);
      *static_cast<std::uint64_t*>(value) = asked;
      return;
    case attribute_managed:
      *static_cast<unsigned*>(value) = 0;
      return;
    default:
      throw Refusal{cuda::result::invalid_value};
  }
}

}  // namespace
}  // namespace ondula::sim::driver

using namespace ondula;               // NOLINT: what follows belongs to no namespace
using namespace ondula::sim::driver;  // NOLINT

cuda::Result cuMemGetInfo_v2(std::size_t* free_bytes, std::size_t* total_bytes) {
  return context_call("cuMemGetInfo_v2", Kind::plain, [&](World& world, ContextObject& context) {
    require(free_bytes != nullptr && total_bytes != nullptr);
    *total_bytes = world.configuration.memory;
    *free_bytes = world.configuration.memory - world.used(context.device);
  });
}

cuda::Result cuMemAlloc_v2(cuda::DevicePointer* pointer, std::size_t bytes) {
  return context_call("cuMemAlloc_v2", Kind::plain, [&](World& world, ContextObject& context) {
    require(pointer != nullptr && bytes > 0);
    refuse_unsafe(world);
    const std::uint64_t address = world.allocate(context, bytes);
    if (address == 0) throw Refusal{cuda::result::out_of_memory};
    *pointer = address;
  });
}

cuda::Result cuMemFree_v2(cuda::DevicePointer pointer) {
  return context_call("cuMemFree_v2", Kind::releases, [&](World& world, ContextObject&) {
    if (pointer == 0) return;
    refuse_unsafe(world);
    const Allocation* const allocation = world.device_allocation(pointer, 1);
    require(allocation != nullptr && allocation->address == pointer);
    world.free(*allocation);
  });
}

cuda::Result cuMemHostAlloc(void** pointer, std::size_t bytes, unsigned flags) {
  return context_call("cuMemHostAlloc", Kind::plain, [&](World& world, ContextObject& context) {
    constexpr unsigned known = 7;  // portable, mapped, write-combined
    require(pointer != nullptr && bytes > 0 && (flags & ~known) == 0);
    refuse_unsafe(world);
    const Allocation* const allocation = world.pinned.create(bytes, &context, world.placement());
    if (allocation == nullptr) throw Refusal{cuda::result::out_of_memory};
    *pointer = reinterpret_cast<void*>(allocation->address);
  });
}

cuda::Result cuMemFreeHost(void* pointer) {
  return context_call("cuMemFreeHost", Kind::releases, [&](World& world, ContextObject&) {
    if (pointer == nullptr) return;
    refuse_unsafe(world);
    const Allocation* const allocation = world.pinned.beginning(address_of(pointer));
    require(allocation != nullptr);
    world.free_pinned(*allocation);
  });
}

cuda::Result cuPointerGetAttribute(void* value, int attribute, cuda::DevicePointer pointer) {
  return context_call("cuPointerGetAttribute", Kind::plain, [&](World& world, ContextObject&) {
    require(value != nullptr);
    const Allocation* const device = world.device_allocation(pointer, 1);
    const Allocation* const host = world.pinned.covering(pointer, 1);
    require(device != nullptr || host != nullptr);
    answer(device != nullptr ? *device : *host, device != nullptr, attribute, value, pointer);
  });
}

cuda::Result cuMemcpyHtoDAsync_v2(cuda::DevicePointer to, const void* from, std::size_t bytes,
                                  cuda::Stream handle) {
  return context_call("cuMemcpyHtoDAsync_v2", Kind::plain, [&](World& world, ContextObject& context) {
    StreamObject& stream = stream_of(world, context, handle);
    if (bytes == 0) return;
    require(from != nullptr);
    world.require(to, bytes);
    add(world, stream, Copy{Copy::Kind::to_device, to, address_of(from), bytes});
  });
}

cuda::Result cuMemcpyDtoHAsync_v2(void* to, cuda::DevicePointer from, std::size_t bytes,
                                  cuda::Stream handle) {
  return context_call("cuMemcpyDtoHAsync_v2", Kind::plain, [&](World& world, ContextObject& context) {
    StreamObject& stream = stream_of(world, context, handle);
    if (bytes == 0) return;
    require(to != nullptr);
    world.require(from, bytes);
    add(world, stream, Copy{Copy::Kind::to_host, address_of(to), from, bytes});
  });
}

cuda::Result cuMemcpyDtoDAsync_v2(cuda::DevicePointer to, cuda::DevicePointer from, std::size_t bytes,
                                  cuda::Stream handle) {
  return context_call("cuMemcpyDtoDAsync_v2", Kind::plain, [&](World& world, ContextObject& context) {
    StreamObject& stream = stream_of(world, context, handle);
    if (bytes == 0) return;
    world.require(to, bytes);
    world.require(from, bytes);
    add(world, stream, Copy{Copy::Kind::on_device, to, from, bytes});
  });
}

cuda::Result cuMemsetD8Async(cuda::DevicePointer to, unsigned char value, std::size_t count,
                             cuda::Stream handle) {
  return context_call("cuMemsetD8Async", Kind::plain, [&](World& world, ContextObject& context) {
    StreamObject& stream = stream_of(world, context, handle);
    if (count == 0) return;
    world.require(to, count);
    add(world, stream, Fill{to, value, count});
  });
}
