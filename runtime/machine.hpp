// What compiles and runs the steps of a Propagator: the host, a CUDA device, or the reference.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "compiler/passes/pipeline.hpp"
#include "runtime/array_view.hpp"
#include "runtime/backend.hpp"
#include "runtime/device/cuda/library.hpp"
#include "runtime/jit/cuda_compiler.hpp"
#include "runtime/jit/host_compiler.hpp"
#include "runtime/loop/cuda_kernels.hpp"
#include "runtime/loop/cuda_points.hpp"
#include "runtime/loop/cuda_tuner.hpp"
#include "runtime/loop/engine.hpp"
#include "runtime/propagator.hpp"

namespace ondula {

namespace cuda {
class Device;
}

/// Kernels before they are compiled.
struct StepSource {
  jit::KernelSource host;
  loop::CudaSource cuda;
};

/// The compiled kernels of one compilation: none for the reference.
struct StepKernels {
  std::shared_ptr<const jit::HostModule> host;
  std::shared_ptr<const loop::CudaKernels> cuda;
  bool ready() const { return host || cuda; }
  /// Whether they were compiled rather than found; false where there are none.
  bool compiled() const;
  /// Adds those of the CUDA kernels.
  void add_shapes(std::vector<LaunchShape>& shapes) const;
};

/// What `backend` lacks on this machine, and what to do; empty where it can run. Opens drivers and NVRTC.
std::string backend_problem(Backend backend);

/// Of one Propagator, whose options it reads.
class Machine {
 public:
  explicit Machine(PropagatorOptions& options) : options_(options) {}

  passes::Target target() const { return cuda() ? passes::Target::cuda : passes::Target::host; }
  bool reference() const { return options_.backend == Backend::reference; }
  bool cuda() const { return runs_cuda(options_.backend); }

  /// Finds compiler, driver and device; before compile(). Throws RuntimeError saying what is missing,
  /// UserError for a device that is not there.
  void ready();
  /// Chooses shapes, which may take a while where the options ask to tune, and prints kernels; compilations
  /// that share expressions one at a time. `least_halo` as in EngineSetup.
  StepSource source(const passes::Compilation& compilation, const ir::Domain& domain, int least_halo) const;
  /// Seconds that source() has spent on measuring shapes.
  double tuning_seconds() const;
  /// From several threads at once.
  StepKernels compile(StepSource source) const;
  /// Both.
  StepKernels compile(const passes::Compilation& compilation, const ir::Domain& domain,
                      int least_halo) const {
    return compile(source(compilation, domain, least_halo));
  }
  /// Null for the reference.
  std::unique_ptr<device::Device> make_device() const;
  /// Arrays of the caller's on the CUDA device (foreign_memory.hpp); `device` is one that make_device() gave,
  /// or null: then one is made for the time. Throw UserError for another backend.
  std::vector<double> read(device::Device* device, const std::string& what, const ConstArrayView& from);
  void write(device::Device* device, const std::string& what, std::span<const double> values,
             const ArrayView& to);
  /// Throws UserError where `view`, said to lie on the host, is an address of a device that is open.
  void require_host(device::Device* device, const std::string& what, const ConstArrayView& view);

  /// `device` is one that make_device() gave.
  std::unique_ptr<loop::Engine> make_engine(const passes::Compilation& compilation,
                                            const loop::EngineSetup& setup, device::Device* device,
                                            const StepKernels& kernels) const;

  /// Bytes the device holds for an engine of so many shots, for steps of which every `every`-th is sampled;
  /// `points` are those of shots that run at once.
  std::size_t engine_bytes(const passes::Compilation& compilation, const ir::Domain& domain, int least_halo,
                           std::int64_t shots, std::int64_t every, const loop::PointCounts& points) const;
  /// What of it comes with the first shots.
  std::size_t points_bytes(std::int64_t every, const loop::PointCounts& points) const;
  /// Of a slot of a history: of so many arrays or, where the forward run keeps them, of its rings.
  std::size_t slot_bytes(const passes::Compilation& compilation, const ir::Domain& domain, int least_halo,
                         std::int64_t shots, std::size_t saves) const;
  /// Of so many slots of so many bytes by tier: those that the device holds, and what lies below.
  TierBytes history_bytes(Tier tier, std::int64_t slots, std::size_t bytes) const;
  /// Of a state of an engine.
  std::size_t state_bytes(const passes::Compilation& compilation, const ir::Domain& domain, int least_halo,
                          std::int64_t shots) const;
  /// Shots that an engine can run at once at most, memory apart: 1 where the kernels take no more.
  std::int64_t most_shots(const ir::Domain& domain) const;
  /// What is known of the CUDA device; null where there is none, or none that can be opened.
  const cuda::DeviceFacts* device_facts() const;

 private:
  /// Runs `body` with the CUDA device.
  template <class F>
  auto on_device(device::Device* device, const std::string& what, const F& body);
  bool several_shots(const ir::Domain& domain) const;
  loop::CudaSource shaped(loop::CudaSource table, const passes::Compilation& compilation,
                          const ir::Domain& domain, int least_halo) const;
  std::unique_ptr<cuda::Device> make_cuda_device(cuda::Stream stream) const;

  PropagatorOptions& options_;
  mutable std::shared_ptr<const cuda::Driver> driver_;
};

}  // namespace ondula
