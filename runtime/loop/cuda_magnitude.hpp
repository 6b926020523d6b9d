// The largest magnitude of an engine's fields on a CUDA device, told without a pause.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/device/cuda/device.hpp"
#include "runtime/loop/watch.hpp"

namespace ondula::loop {

class CudaMagnitude {
 public:
  /// Of at most `arrays` arrays.
  CudaMagnitude(cuda::Device& device, const cuda::LoadedModule& module, DType dtype, std::size_t arrays);
  ~CudaMagnitude();

  /// What the constructor allocates.
  static std::size_t bytes(DType dtype, std::size_t arrays);

  struct Array {
    cuda::DevicePointer address = 0;
    std::int64_t count = 0;
  };
  /// Enqueues the search over `arrays` as they are now; what was asked before is waited for and told.
  void ask(std::int64_t step, const std::vector<Array>& arrays, const Watch& watch);
  /// Waits for what was asked and tells it.
  void tell(const Watch& watch);
  /// Of `arrays` now; NaN if any value is not finite.
  double now(const std::vector<Array>& arrays);
  void forget();

 private:
  struct Slot {
    cuda::OwnedPinned values;
    cuda::OwnedEvent done;
    bool pending = false;
    std::int64_t step = 0;
    std::size_t count = 0;  // of values
  };
  void enqueue(Slot& slot, std::size_t place, const std::vector<Array>& arrays);
  double take(Slot& slot);
  void tell(Slot& slot, const Watch& watch);

  cuda::Device& device_;
  std::shared_ptr<cuda::Session> session_;
  bool wide_;
  cuda::Function function_ = nullptr;
  device::Buffer partial_, result_;
  cuda::OwnedEvent computed_;
  cuda::OwnedStream down_;
  std::array<Slot, 2> slots_;
  std::size_t next_ = 0;
  std::size_t slot_bytes_ = 0;
};

}  // namespace ondula::loop
