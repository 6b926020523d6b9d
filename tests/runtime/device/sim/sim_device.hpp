// The host's memory, with CUDA kernels run by the stand-in's executor in place of the host's kernels.
// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "compiler/emit/cuda_text.hpp"
#include "compiler/ir/cuda.hpp"
#include "compiler/ir/domain.hpp"
#include "runtime/device/device.hpp"
#include "runtime/device/sim/executor.hpp"
#include "runtime/device/sim/shadow.hpp"

namespace ondula::test {

/// What a run leaves besides its fields.
struct SimRecord {
  std::vector<sim::Finding> findings;
  std::map<std::string, sim::Counters> counters;  ///< by kernel
};

/// Compiled kernels of a program, and how they are run.
struct SimSetup {
  ir::CudaProgram program;
  ir::Domain domain;
  emit::Real real = emit::Real::float32;
  sim::Mode mode = sim::Mode::fast;
  std::uint64_t seed = 0;
  bool count_sectors = false;
  std::shared_ptr<sim::Program> kernels;  ///< of `program`, compiled
  /// Spoils a launch before it runs.
  std::function<void(sim::Launch&)> plant;
  std::shared_ptr<SimRecord> record = std::make_shared<SimRecord>();
};

/// The kernels of `program`. Throws RuntimeError where their text does not compile.
std::shared_ptr<sim::Program> sim_program(const ir::CudaProgram& program, emit::Real real);

/// A host text whose entry points, one per sweep, only say which sweep they stand for.
std::string sweeps_text(const ir::CudaProgram& program, emit::Real real);

/// A device for engines made from sweeps_text: launches run the CUDA kernels of the sweep.
std::unique_ptr<device::Device> make_sim_device(const SimSetup& setup);

}  // namespace ondula::test
