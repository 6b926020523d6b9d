// Arrays in the caller's memory: on the host, or on a CUDA device.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/types.hpp"

namespace ondula {

/// Whose addresses they are: the host's, or those that cuMemAlloc and its like gave on the run's CUDA device.
enum class MemoryKind { host, device };

/// Values in the caller's memory, which stays the caller's: the one at index 0 of every axis stands at
/// `data`, others `strides` elements on for each index (no strides: C order without gaps; they may be
/// negative).
struct ConstArrayView {
  const void* data = nullptr;
  std::vector<std::int64_t> shape;  ///< slowest axis first
  DType dtype = DType::float32;
  MemoryKind memory = MemoryKind::host;
  std::vector<std::int64_t> strides = {};
};

/// The same to be written.
struct ArrayView {
  void* data = nullptr;
  std::vector<std::int64_t> shape;
  DType dtype = DType::float32;
  MemoryKind memory = MemoryKind::host;
  std::vector<std::int64_t> strides = {};

  operator ConstArrayView() const {
    return {data, shape, dtype, memory, strides};
  }  // NOLINT: as a pointer does
};

}  // namespace ondula
