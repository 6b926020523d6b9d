// The launches of one step on a CUDA device.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "compiler/ir/cuda.hpp"
#include "runtime/device/cuda/device.hpp"
#include "runtime/loop/arrays.hpp"
#include "runtime/loop/cuda_binder.hpp"
#include "runtime/loop/cuda_halo.hpp"
#include "runtime/loop/cuda_points.hpp"
#include "runtime/loop/cuda_ring.hpp"

namespace ondula::loop {

/// An argument that is the address of an array in a history, `offset` elements in: of the step's slot, or of
/// the slot before.
struct CudaKept {
  std::size_t argument = 0;
  std::string field;
  bool previous = false;
  std::int64_t offset = 0;
};

/// One launch of a step. `argument` of an injection is its step, of a sample its row, after the clock's.
struct CudaItem {
  enum class Kind { kernel, injection, sample };
  Kind kind = Kind::kernel;
  cuda::KernelLaunch launch;
  std::size_t argument = 0;
  std::vector<CudaKept> kept;
};

/// A step's launches in order.
using CudaStep = std::vector<CudaItem>;

/// Where the points' kernels find the clock and the rows of a chunk.
struct CudaRows {
  cuda::DevicePointer clock = 0, samples = 0, record = 0;
};

/// Makes steps out of one engine's arrays; what it is given must outlive it.
class CudaStepMaker {
 public:
  CudaStepMaker(const ir::CudaProgram& program, const EngineSetup& setup, cuda::Device& device,
                const cuda::LoadedModule& module, Arrays& arrays, const ShotStrides& strides, int halo);

  /// A step while slot `parity` of second-order fields holds the present.
  CudaStep step(int parity, const CudaPoints& points, const CudaRows& rows) const;
  /// The launches that fill the halo of `field`, which stands in `array`.
  std::vector<cuda::KernelLaunch> halo(const std::string& field, const device::Buffer& array) const;
  /// The launches that keep the rings of the present at `kept`, while slot `parity` of second-order fields
  /// holds it.
  std::vector<cuda::KernelLaunch> keep_rings(int parity, cuda::DevicePointer kept) const;

 private:
  const Arrays::Array& array_of(const std::string& name, bool next, int parity) const;
  bool apart(const std::string& field) const { return program_.set.program.field(field).apart; }
  CudaItem sample(const CudaTaps& taps, const std::string& field, int parity, const CudaRows& rows,
                  std::int64_t places) const;
  CudaItem ring(const ir::Ring& ring, int parity) const;
  CudaItem injection(const CudaTaps& taps, const ir::Injection& operation, int parity, const CudaRows& rows,
                     std::int64_t sources) const;

  const ir::CudaProgram& program_;
  Arrays& arrays_;
  std::int64_t origin_;  ///< of full arrays
  CudaBinder binder_;
  std::map<std::string, CudaHalo> halos_;
  std::map<int, CudaRing> rings_;  ///< by number
  std::array<std::vector<cuda::KernelLaunch>, 2> launches_;
  cuda::Function halo_function_ = nullptr, ring_function_ = nullptr, inject_function_ = nullptr,
                 sample_function_ = nullptr;
};

}  // namespace ondula::loop
