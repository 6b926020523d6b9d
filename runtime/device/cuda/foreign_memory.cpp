// Pieces of a caller's array through pinned memory.
// SPDX-License-Identifier: MIT
#include "runtime/device/cuda/foreign_memory.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "compiler/error.hpp"

namespace ondula::cuda {
namespace {

constexpr unsigned device_memory = 2;  // CU_MEMORYTYPE_DEVICE
constexpr std::int64_t piece = std::int64_t{1} << 22;

std::int64_t element_bytes(DType dtype) {
  return dtype == DType::float32 ? static_cast<std::int64_t>(sizeof(float))
                                 : static_cast<std::int64_t>(sizeof(double));
}

DevicePointer at(const void* data, std::int64_t bytes) {
  return reinterpret_cast<DevicePointer>(data) + static_cast<DevicePointer>(bytes);
}

/// The device whose memory `pointer` is an address of; -1 where it is of none.
int device_of(Session& session, DevicePointer pointer) {
  const auto& attribute = session.functions().pointer_attribute;
  unsigned type = 0;
  if (session.try_call(result::invalid_value, attribute, static_cast<void*>(&type), pointer_memory_type,
                       pointer) != result::success ||
      type != device_memory)
    return -1;
  int ordinal = -1;
  session.call(attribute, static_cast<void*>(&ordinal), pointer_device_ordinal, pointer);
  return ordinal;
}

void require_device_memory(Session& session, const std::string& what, const ConstArrayView& view,
                           const ArrayPlaces& places) {
  const std::int64_t bytes = element_bytes(view.dtype);
  const int first = device_of(session, at(view.data, 0));
  if (first < 0) {
    throw UserError(
        fmt::format("{}: {} is no address of device memory; allowed: memory of CUDA device {}, or "
                    "MemoryKind::host",
                    what, fmt::ptr(view.data), session.number()));
  }
  if (first != session.number()) {
    throw UserError(fmt::format("{}: {} is memory of CUDA device {}; the run is on device {}", what,
                                fmt::ptr(view.data), first, session.number()));
  }
  // What lies beyond the allocation may be another one.
  const auto& attribute = session.functions().pointer_attribute;
  DevicePointer begin = 0;
  std::size_t size = 0;
  session.call(attribute, static_cast<void*>(&begin), pointer_range_start, at(view.data, 0));
  session.call(attribute, static_cast<void*>(&size), pointer_range_size, at(view.data, 0));
  const auto before = static_cast<std::int64_t>(at(view.data, 0) - begin);
  const auto after = static_cast<std::int64_t>(size) - before;
  if (-places.lowest() * bytes <= before && (places.highest() + 1) * bytes <= after) return;
  throw UserError(fmt::format("{}: shape ({}) with strides ({}) leaves the memory that {} points to", what,
                              fmt::join(places.shape(), ", "), fmt::join(places.strides(), ", "),
                              fmt::ptr(view.data)));
}

/// Without a stream of the caller's nothing says after what its memory holds the values, or is free for them.
void wait_for_caller(Device& device) {
  if (!device.has_caller_stream()) device.session()->call(device.session()->functions().context_synchronize);
}

template <class Real>
std::vector<double> read(Device& device, const ConstArrayView& view, const ArrayPlaces& places) {
  std::vector<double> values(static_cast<std::size_t>(places.count()));
  // The whole stretch comes down, piece by piece; an array without gaps is taken from it straight.
  const std::int64_t size = places.highest() - places.lowest() + 1;
  std::vector<Real> stretch(static_cast<std::size_t>(size));
  device.download_from(at(view.data, places.lowest() * static_cast<std::int64_t>(sizeof(Real))),
                       stretch.data(), stretch.size() * sizeof(Real));
  places.each([&](std::int64_t number, std::int64_t place) {
    values[static_cast<std::size_t>(number)] =
        static_cast<double>(stretch[static_cast<std::size_t>(place - places.lowest())]);
  });
  return values;
}

template <class Real>
void write(Device& device, std::span<const double> values, const ArrayView& view, const ArrayPlaces& places) {
  // Runs of elements that follow each other, as long as they can be.
  std::vector<std::pair<std::int64_t, std::int64_t>> order;  // place, number
  order.reserve(values.size());
  places.each([&](std::int64_t number, std::int64_t place) { order.emplace_back(place, number); });
  std::sort(order.begin(), order.end());
  std::vector<Real> run;
  for (std::size_t begin = 0; begin < order.size();) {
    run.clear();
    std::size_t end = begin;
    while (end < order.size() && static_cast<std::int64_t>(run.size()) < piece &&
           order[end].first == order[begin].first + static_cast<std::int64_t>(end - begin)) {
      run.push_back(static_cast<Real>(values[static_cast<std::size_t>(order[end].second)]));
      ++end;
    }
    device.upload_to(at(view.data, order[begin].first * static_cast<std::int64_t>(sizeof(Real))), run.data(),
                     run.size() * sizeof(Real));
    begin = end;
  }
}

}  // namespace

std::vector<double> read_foreign(Device& device, const std::string& what, const ConstArrayView& view) {
  const ArrayPlaces places(what, view);
  if (places.count() == 0) return {};
  const Scope scope(*device.session());
  require_device_memory(*device.session(), what, view, places);
  wait_for_caller(device);
  return view.dtype == DType::float32 ? read<float>(device, view, places)
                                      : read<double>(device, view, places);
}

void write_foreign(Device& device, const std::string& what, std::span<const double> values,
                   const ArrayView& view) {
  const ArrayPlaces places(what, view);
  if (places.count() == 0) return;
  places.require_distinct(what);
  if (places.run_axis() < 0) {
    throw UserError(
        fmt::format("{}: shape ({}) with strides ({}) on a device; allowed: one axis with stride 1", what,
                    fmt::join(places.shape(), ", "), fmt::join(places.strides(), ", ")));
  }
  const Scope scope(*device.session());
  require_device_memory(*device.session(), what, view, places);
  wait_for_caller(device);
  if (view.dtype == DType::float32)
    write<float>(device, values, view, places);
  else
    write<double>(device, values, view, places);
  if (!device.has_caller_stream()) device.synchronize();
}

void require_host(Device& device, const std::string& what, const ConstArrayView& view) {
  const Scope scope(*device.session());
  const int number = device_of(*device.session(), at(view.data, 0));
  if (number < 0) return;
  throw UserError(
      fmt::format("{}: {} is an address on CUDA device {}; allowed: host memory, or "
                  "MemoryKind::device",
                  what, fmt::ptr(view.data), number));
}

}  // namespace ondula::cuda
