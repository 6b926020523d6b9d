// Tables of boxes (templates/cuda_points.cu.in says what stands in them).
// SPDX-License-Identifier: MIT
#include "runtime/loop/cuda_ring.hpp"

#include <algorithm>

namespace ondula::loop {
namespace {

constexpr std::int64_t threads = 128;
constexpr std::size_t entries = 8;  // of a box

}  // namespace

CudaRing::CudaRing(const RingLayout& rings, int number, int dims, const Layout& layout,
                   std::int64_t shot_stride, std::int64_t ring_stride, cuda::Device& device)
    : shot_stride_(shot_stride), ring_stride_(ring_stride) {
  const auto inner = static_cast<std::size_t>(dims - 1);
  std::vector<std::int64_t> table;
  for (const RingPart& part : rings.parts) {
    if (part.number != number) continue;
    const ir::Extents first = {part.box[0].lo, part.box[1].lo, part.box[2].lo};
    const std::int64_t length = part.box[inner].size();
    const std::int64_t rows = dims == 3 ? part.box[1].size() : 1;
    const std::int64_t all = part.box[0].size() * part.box[1].size() * part.box[2].size();
    table.insert(table.end(), {blocks_ * threads, all, part.first, layout.at(first), length, rows,
                               dims == 3 ? layout.stride[1] : 0, dims > 1 ? layout.stride[0] : 0});
    blocks_ += (all + threads - 1) / threads;
    ++parts_;
  }
  if (parts_ == 0) return;
  table_ = device.allocate(table.size() * sizeof(std::int64_t));
  device.upload(table_, 0, table.data(), table.size() * sizeof(std::int64_t));
}

std::size_t CudaRing::bytes(const RingLayout& rings, int number) {
  const auto parts = std::count_if(rings.parts.begin(), rings.parts.end(),
                                   [&](const RingPart& part) { return part.number == number; });
  return static_cast<std::size_t>(parts) * entries * sizeof(std::int64_t);
}

cuda::KernelLaunch CudaRing::launch(const device::Buffer& array, cuda::Function function, bool keep) const {
  cuda::KernelLaunch launch;
  launch.function = function;
  launch.grid = {static_cast<std::uint32_t>(blocks_), 1, 1};
  launch.block = {static_cast<std::uint32_t>(threads), 1, 1};
  launch.add(cuda::address(array)).add(cuda::DevicePointer{0}).add(cuda::address(table_));
  launch.add(parts_).add(keep ? 1 : 0).add(shot_stride_).add(ring_stride_);
  launch.shot_blocks = 1;
  return launch;
}

}  // namespace ondula::loop
