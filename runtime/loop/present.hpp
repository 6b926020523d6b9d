// The present of an engine as a whole: every array that its next steps depend on.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "compiler/passes/pipeline.hpp"
#include "runtime/device/device.hpp"
#include "runtime/loop/arrays.hpp"
#include "runtime/loop/engine.hpp"

namespace ondula::loop {

/// Fields with both their levels and memory variables, of all shots that an engine has room for, in one order
/// whichever array holds which level now. `parity` is the slot of second-order fields that holds level 0;
/// what is put back stands in the arrays of parity 0. What it is given must outlive it.
class Present {
 public:
  Present(const ir::Program& program, Arrays& arrays, device::Device& device, std::size_t element_bytes,
          std::int64_t shots = 1);

  /// Of one state.
  std::size_t bytes() const { return bytes_; }
  /// Room for one on the device.
  std::unique_ptr<HeldState> make() const;
  /// Copies on the device, in the order of its other work.
  void hold(HeldState& into, int parity) const;
  void resume(const HeldState& from) const;
  /// The same to and from the host's memory, of bytes().
  void download(std::span<std::byte> into, int parity) const;
  void upload(std::span<const std::byte> from) const;

 private:
  struct Part {
    ArrayKey key;        ///< at parity 0
    bool turns = false;  ///< with the parity
    std::size_t bytes = 0;
  };
  device::Buffer& buffer(const Part& part, int parity) const;

  Arrays& arrays_;
  device::Device& device_;
  std::vector<Part> parts_;
  std::size_t bytes_ = 0;
};

/// Bytes of a state, without an engine.
std::size_t present_bytes(const passes::Compilation& compilation, const ir::Domain& domain, DType dtype,
                          int least_halo, std::int64_t shots);

}  // namespace ondula::loop
