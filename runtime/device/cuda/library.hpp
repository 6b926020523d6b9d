// The CUDA driver library, opened at run time: its entry points by name, and why it cannot be used.
// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "runtime/device/cuda/driver.hpp"
#include "runtime/jit/cuda_architecture.hpp"

namespace ondula::cuda {

/// One entry point, and its exported name for messages.
template <class Signature>
struct Entry {
  Signature* function = nullptr;
  const char* name = "";
};

/// Every entry point of ONDULA_CUDA_DRIVER.
struct Functions {
#define ONDULA_CUDA_ENTRY(member, symbol, arguments) \
  Entry<::ondula::cuda::Result arguments> member{nullptr, #symbol};
  ONDULA_CUDA_DRIVER(ONDULA_CUDA_ENTRY)
#undef ONDULA_CUDA_ENTRY
};

/// One device as the driver describes it.
struct DeviceFacts {
  std::string name;
  int major = 0, minor = 0;  ///< compute capability
  std::size_t bytes = 0;
  int multiprocessors = 0;
};

/// Whether a driver can be used, and what it has.
struct DriverStatus {
  bool usable = false;
  std::string path;                  ///< of the library; empty where it cannot be opened
  jit::CudaVersion version;          ///< the newest CUDA it supports; 0.0 unknown
  std::vector<DeviceFacts> devices;  ///< at least one where usable
  std::string problem;               ///< why it is not usable, and what to do; empty when it is
};

/// The oldest driver that has every entry point.
inline constexpr jit::CudaVersion oldest_driver{11, 4};

/// A driver library with cuInit done. It stays loaded until the process ends.
class Driver {
 public:
  /// Opens the library of this path or name. Throws RuntimeError with DriverStatus::problem where it cannot
  /// be used.
  static std::shared_ptr<const Driver> open(const std::string& library);

  const Functions& functions() const { return functions_; }
  const std::string& path() const { return status_.path; }
  const jit::CudaVersion& version() const { return status_.version; }
  const std::vector<DeviceFacts>& devices() const { return status_.devices; }
  /// "CUDA_ERROR_OUT_OF_MEMORY (out of memory)"; the driver's own words.
  std::string describe(Result result) const;
  /// Whether it is the stand-in.
  bool stand_in() const { return stand_in_; }

 private:
  friend DriverStatus inspect_driver(const std::string& library);
  explicit Driver(const std::string& library);
  void find_devices();

  DriverStatus status_;
  Functions functions_;
  bool stand_in_ = false;
};

/// Opens the library of this path or name as Driver does and tells what it found.
DriverStatus inspect_driver(const std::string& library);

/// What Backend::cuda opens: ONDULA_CUDA_DRIVER, else libcuda.so.1 where the loader finds it.
std::string driver_library();
/// What Backend::cuda_sim opens: ONDULA_CUDA_SIM, else libondula-cuda-sim.so beside the program or the
/// library, as a build or an installation puts it; empty where it is nowhere. `searched` gets the folders.
std::string stand_in_library(std::vector<std::string>* searched = nullptr);

}  // namespace ondula::cuda
