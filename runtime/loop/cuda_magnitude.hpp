// The largest magnitudes of an engine's fields on a CUDA device, shot by shot, told without a pause.
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
  /// Of at most `arrays` arrays, and as many shots.
  CudaMagnitude(cuda::Device& device, const cuda::LoadedModule& module, DType dtype, std::size_t arrays,
                std::int64_t shots);
  ~CudaMagnitude();

  /// What the constructor allocates.
  static std::size_t bytes(DType dtype, std::size_t arrays, std::int64_t shots);

  struct Array {
    cuda::DevicePointer address = 0;
    std::int64_t count = 0;        ///< of one shot's copy
    std::int64_t shot_stride = 0;  ///< elements
  };
  /// Enqueues the search over `shots` copies of `arrays` as they are now; what was asked before is waited for
  /// and told.
  void ask(std::int64_t step, const std::vector<Array>& arrays, std::int64_t shots, const Watch& watch);
  /// Waits for what was asked and tells it.
  void tell(const Watch& watch);
  /// Of each shot now; NaN where any value is not finite.
  std::vector<double> now(const std::vector<Array>& arrays, std::int64_t shots);
  void forget();

 private:
  struct Slot {
    cuda::OwnedPinned values;
    cuda::OwnedEvent done;
    bool pending = false;
    std::int64_t step = 0;
    std::size_t arrays = 0, shots = 0;  // array by array, shot by shot, a value per thread
  };
  void enqueue(Slot& slot, std::size_t place, const std::vector<Array>& arrays, std::int64_t shots);
  std::vector<double> take(Slot& slot);
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
