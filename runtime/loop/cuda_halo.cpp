// Tables of images, and the launches over them.
// SPDX-License-Identifier: MIT
#include "runtime/loop/cuda_halo.hpp"

#include <algorithm>

#include "compiler/ir/images.hpp"

namespace ondula::loop {
namespace {

template <class T>
device::Buffer uploaded(cuda::Device& device, const std::vector<T>& values) {
  device::Buffer buffer = device.allocate(values.size() * sizeof(T));
  device.upload(buffer, 0, values.data(), values.size() * sizeof(T));
  return buffer;
}

}  // namespace

CudaHalo::CudaHalo(const ir::Domain& domain, const ir::Field& field, bool first_order, int halo,
                   const Layout& layout, std::int64_t shot_stride, DType dtype, cuda::Device& device)
    : element_(dtype == DType::float32 ? sizeof(float) : sizeof(double)),
      origin_(layout.origin),
      shot_stride_(shot_stride) {
  for (int axis = 0; axis < domain.dims; ++axis) {
    const std::int64_t stride = layout.stride[static_cast<std::size_t>(axis)];
    std::vector<std::int64_t> to, from;
    std::vector<double> sign;
    for (const ir::Repeat& image : ir::field_images(domain, field, axis, first_order, halo)) {
      if (image.sign == 0) continue;  // nothing ever writes there
      to.push_back(image.to * stride);
      from.push_back(image.from * stride);
      sign.push_back(image.sign);
    }
    if (to.empty()) continue;
    Axis made;
    made.images = static_cast<int>(to.size());
    made.to = uploaded(device, to);
    made.from = uploaded(device, from);
    made.sign = dtype == DType::float32 ? uploaded(device, std::vector<float>(sign.begin(), sign.end()))
                                        : uploaded(device, sign);
    // The other axes: those already filled with their halo, those to come without; threads along the inner
    // one.
    std::vector<Axis::Along> others;
    for (int a = 0; a < domain.dims; ++a) {
      if (a == axis) continue;
      const std::int64_t margin = a < axis && a + 1 < domain.dims ? halo : 0;
      others.push_back({-margin, domain.total(a) + 2 * margin, layout.stride[static_cast<std::size_t>(a)]});
    }
    if (!others.empty()) made.inner = others.back();
    if (others.size() > 1) made.outer = others.front();
    axes_.push_back(std::move(made));
  }
}

std::size_t CudaHalo::bytes(const ir::Domain& domain, const ir::Field& field, bool first_order, int halo,
                            DType dtype) {
  std::size_t images = 0;
  for (int axis = 0; axis < domain.dims; ++axis) {
    for (const ir::Repeat& image : ir::field_images(domain, field, axis, first_order, halo))
      images += image.sign != 0 ? 1 : 0;
  }
  return images * (2 * sizeof(std::int64_t) + (dtype == DType::float32 ? sizeof(float) : sizeof(double)));
}

std::vector<cuda::KernelLaunch> CudaHalo::launches(const device::Buffer& array,
                                                   cuda::Function function) const {
  constexpr std::int64_t threads = 128, most_rows = 65535;
  const auto field =
      cuda::address(array) + static_cast<cuda::DevicePointer>(origin_ * static_cast<std::int64_t>(element_));
  std::vector<cuda::KernelLaunch> result;
  for (const Axis& axis : axes_) {
    cuda::KernelLaunch launch;
    launch.function = function;
    launch.block = {static_cast<std::uint32_t>(threads), 1, 1};
    launch.grid = {static_cast<std::uint32_t>((axis.inner.count + threads - 1) / threads),
                   static_cast<std::uint32_t>(std::min(axis.outer.count, most_rows)), 1};
    launch.add(field).add(cuda::address(axis.to)).add(cuda::address(axis.from)).add(cuda::address(axis.sign));
    launch.add(axis.images);
    for (const Axis::Along& along : {axis.inner, axis.outer})
      launch.add(along.first).add(along.count).add(along.stride);
    launch.add(shot_stride_);
    launch.shot_blocks = 1;
    result.push_back(std::move(launch));
  }
  return result;
}

}  // namespace ondula::loop
