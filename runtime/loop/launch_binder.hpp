// Binding kernels to an engine's arrays: pointers, strides, boxes, scalars and tiles of a launch.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

#include "compiler/ir/kernel.hpp"
#include "runtime/device/device.hpp"
#include "runtime/jit/host_compiler.hpp"
#include "runtime/loop/arrays.hpp"
#include "runtime/loop/engine.hpp"

namespace ondula::loop {

/// Makes the launches of one engine; what it is given must outlive it.
class LaunchBinder {
 public:
  LaunchBinder(const ir::KernelSet& set, const EngineSetup& setup, const device::Device& device,
               const jit::HostModule& module, Arrays& arrays, int halo);
  /// `parity` tells which slot of second-order fields holds the present (arrays.hpp). Fields of the history
  /// have no array yet: their arguments are null. Throws InternalError for an array that was not allocated.
  device::Launch launch(const ir::Kernel& kernel, int parity) const;

 private:
  std::int64_t beyond(const ir::Kernel& kernel) const;
  void* pointer(const ir::ArrayArgument& argument, int parity) const;
  void put(device::Launch& launch, int position, const ir::Box& box) const;
  void bind_boxes(const ir::Kernel& kernel, device::Launch& launch) const;
  void bind_scalars(const ir::Kernel& kernel, device::Launch& launch) const;

  const ir::KernelSet& set_;
  const EngineSetup& setup_;
  const device::Device& device_;
  const jit::HostModule& module_;
  Arrays& arrays_;
  int halo_;
  std::size_t element_;  // bytes
};

}  // namespace ondula::loop
