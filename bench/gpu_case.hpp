// What the parts of the check of a GPU share: the device, compilers, the time that is left, lines of JSON.
// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "runtime/device/cuda/device.hpp"
#include "runtime/jit/cuda_compiler.hpp"
#include "runtime/types.hpp"

namespace ondula::bench {

using Json = nlohmann::ordered_json;

/// One device, a compiler for it, and until when work may begin.
class GpuCase {
 public:
  /// Opens what `backend` (cuda or cuda_sim) runs on. Throws RuntimeError saying what is missing, UserError
  /// for a device that is not there.
  GpuCase(Backend backend, int device, double seconds);

  Backend backend() const { return backend_; }
  int number() const { return number_; }
  const std::shared_ptr<const cuda::Driver>& driver() const { return driver_; }
  const cuda::DeviceFacts& facts() const;
  const std::shared_ptr<jit::CudaCompiler>& compiler() const { return compiler_; }
  /// What kernels are compiled for.
  jit::CudaArchitecture architecture() const;
  /// Seconds until `seconds` after construction are over; negative then.
  double left() const;
  /// Bytes of the device's L2 cache; 0 where the driver does not say.
  std::size_t l2_bytes() const;

 private:
  Backend backend_;
  int number_;
  std::chrono::steady_clock::time_point end_;
  std::shared_ptr<const cuda::Driver> driver_;
  std::shared_ptr<jit::CudaCompiler> compiler_;
};

/// Prints `line` to stdout at once, on one line.
void print_line(const Json& line);

/// Seconds since `begin`.
double seconds_since(std::chrono::steady_clock::time_point begin);

}  // namespace ondula::bench
