// Binding CUDA kernels to an engine's arrays: addresses, strides, bounds, scalars and blocks of a launch.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "compiler/ir/cuda.hpp"
#include "runtime/device/cuda/device.hpp"
#include "runtime/loop/arrays.hpp"
#include "runtime/loop/engine.hpp"

namespace ondula::loop {

/// A kernel's argument that is an array of the history: of the step's slot, or of the slot before.
struct CudaExternal {
  std::string field;
  bool previous = false;
  std::size_t argument = 0;
};

/// Makes the launches of one engine, and holds what they point to besides the arrays; what it is given must
/// outlive it.
class CudaBinder {
 public:
  CudaBinder(const ir::CudaProgram& program, const EngineSetup& setup, cuda::Device& device,
             const cuda::LoadedModule& module, Arrays& arrays, const ShotStrides& strides, int halo);
  /// Of the program's kernel `number`, with no blocks where there is nothing to do on this grid. `parity`
  /// tells which slot of second-order fields holds the present (arrays.hpp). Fields of the history have no
  /// array yet: their arguments are null. The context must be current.
  cuda::KernelLaunch launch(std::size_t number, int parity);
  /// Of the program's kernel `number`.
  std::vector<CudaExternal> externals(std::size_t number) const;

 private:
  const ir::Kernel& sweep(const ir::CudaKernel& kernel) const;
  cuda::DevicePointer array(const ir::ArrayArgument& argument, int parity) const;
  double scalar(const std::string& name) const;
  void add_scalar(cuda::KernelLaunch& launch, double value) const;
  void add_integer(cuda::KernelLaunch& launch, std::int64_t value) const;
  cuda::DevicePointer scalars_of(int sweep);

  const ir::CudaProgram& program_;
  const EngineSetup& setup_;
  cuda::Device& device_;
  const cuda::LoadedModule& module_;
  Arrays& arrays_;
  Layout full_;
  ShotStrides strides_;
  std::size_t element_;                    // bytes
  std::map<int, device::Buffer> scalars_;  // by sweep, where kernels want them in memory
};

}  // namespace ondula::loop
