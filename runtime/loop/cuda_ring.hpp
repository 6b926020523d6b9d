// Moving a field's ring on a CUDA device.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/device/cuda/device.hpp"
#include "runtime/loop/layout.hpp"
#include "runtime/loop/ring_layout.hpp"

namespace ondula::loop {

/// The boxes of one ring as a table on the device.
class CudaRing {
 public:
  /// Of the parts of ring `number`, for an array that lies as `layout`; copies of shots lie `shot_stride`
  /// elements apart in the array and `ring_stride` in what is kept.
  CudaRing(const RingLayout& rings, int number, int dims, const Layout& layout, std::int64_t shot_stride,
           std::int64_t ring_stride, cuda::Device& device);
  /// What it takes on the device.
  static std::size_t bytes(const RingLayout& rings, int number);

  /// Keeps the ring of `array`, or fills it; the address of what is kept is argument `kept_argument`, still
  /// 0.
  cuda::KernelLaunch launch(const device::Buffer& array, cuda::Function function, bool keep) const;
  bool empty() const { return parts_ == 0; }
  static constexpr std::size_t kept_argument = 1;

 private:
  device::Buffer table_;
  int parts_ = 0;
  std::int64_t blocks_ = 0;
  std::int64_t shot_stride_ = 0, ring_stride_ = 0;
};

}  // namespace ondula::loop
