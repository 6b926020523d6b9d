// GPU architectures, and which form of a kernel a device and a driver can take.
// SPDX-License-Identifier: MIT
#pragma once

#include <compare>
#include <span>
#include <string>

namespace ondula::jit {

/// A version of CUDA: of a toolkit, of NVRTC, or the newest a driver supports.
struct CudaVersion {
  int major = 0;
  int minor = 0;
  /// From the driver API's number: 12040 is 12.4.
  static CudaVersion from_number(int number) { return {number / 1000, number % 1000 / 10}; }
  /// "12.4".
  std::string text() const;
  friend auto operator<=>(const CudaVersion&, const CudaVersion&) = default;
};

/// What kernels are compiled for. "sm_90" and "sm_90a", "sm_120" and "sm_121" are different ones.
struct CudaArchitecture {
  int major = 0;
  int minor = 0;
  std::string variant;    ///< "", "a" (this very architecture) or "f" (its family)
  bool portable = false;  ///< PTX, which the driver compiles, instead of a cubin

  /// 10 * major + minor, NVRTC's number.
  int number() const { return 10 * major + minor; }
  /// "sm_90a", or "compute_90a" where portable.
  std::string text() const;
  friend bool operator==(const CudaArchitecture&, const CudaArchitecture&) = default;
};

/// From "sm_90", "sm_90a", "compute_90" or "9.0". Throws UserError saying what is allowed for anything else.
CudaArchitecture parse_architecture(const std::string& text);

/// What to compile for a device of compute capability `major`.`minor`, where NVRTC compiles for `supported`
/// (its numbers, ascending): a cubin where it knows the device, else PTX of the newest it knows below. Throws
/// UserError listing the range for a device older than all.
CudaArchitecture choose_architecture(int major, int minor, std::span<const int> supported);

/// Checks that NVRTC compiles for `architecture`. Throws UserError listing what it compiles for.
void require_supported(const CudaArchitecture& architecture, std::span<const int> supported,
                       const CudaVersion& nvrtc);

/// Checks that a driver which supports CUDA up to `driver` loads what NVRTC `nvrtc` made. A cubin loads on
/// any driver of its own major version or a newer one; PTX needs a driver at least as new as the NVRTC.
/// Throws RuntimeError naming both versions and the remedies.
void require_loadable(const CudaArchitecture& architecture, const CudaVersion& nvrtc,
                      const CudaVersion& driver);

}  // namespace ondula::jit
