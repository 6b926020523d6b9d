// Times the launches of CUDA kernels on a device, by events.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "runtime/device/cuda/device.hpp"
#include "runtime/loop/arrays.hpp"
#include "runtime/loop/cuda_binder.hpp"
#include "runtime/loop/cuda_tuner.hpp"
#include "runtime/loop/engine.hpp"

namespace ondula::loop {

/// Launches kernels of one set on arrays of its own, which hold noise, as large as a run's on
/// `setup.domain`; what they compute is of no use.
class CudaLaunchMeter final : public CudaMeter {
 public:
  /// Allocates what an engine would, with two arrays for each that stands in a history. Throws RuntimeError
  /// where there is no room.
  CudaLaunchMeter(std::unique_ptr<cuda::Device> device, const ir::KernelSet& set, const EngineSetup& setup);
  ~CudaLaunchMeter() override;

  /// By several launches between two events on the device's stream, as many for all candidates of a kernel:
  /// some milliseconds.
  double seconds(const std::shared_ptr<const CudaKernels>& kernels, std::size_t number) override;

 private:
  struct Loaded;
  Loaded& loaded(const std::shared_ptr<const CudaKernels>& kernels);
  void fill(device::Buffer& buffer, double low, double high);
  double run(const cuda::KernelLaunch& launch, int count);

  std::unique_ptr<cuda::Device> device_;
  EngineSetup setup_;
  int halo_;
  std::vector<ArrayPlan> plans_;
  Arrays arrays_;
  std::map<std::pair<std::string, bool>, device::Buffer>
      history_;  ///< by field, and whether of the slot before
  std::map<std::shared_ptr<const CudaKernels>, std::unique_ptr<Loaded>> loaded_;
  std::map<std::size_t, int> launches_;  ///< by kernel
  cuda::OwnedEvent begin_, end_;
};

}  // namespace ondula::loop
