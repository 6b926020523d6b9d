// This machine's CPU, as kernels are compiled for it.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

namespace ondula::jit {

/// What a kernel may use. Two CPUs that compare equal run the same binary at its best.
struct Cpu {
  std::string vendor;                 ///< cpuid's vendor, for example "GenuineIntel"
  int family = 0;                     ///< cpuid's family, extended part added
  int model = 0;                      ///< cpuid's model, extended part added
  std::vector<std::string> features;  ///< LLVM's names, sorted; only those the operating system also supports

  /// Whether a feature is there.
  bool has(const std::string& feature) const;
  friend bool operator==(const Cpu&, const Cpu&) = default;
};

/// Asks cpuid and xgetbv. Throws RuntimeError on a machine that is not x86-64.
Cpu host_cpu();

/// The CPU with fewer features. `names` is a comma-separated list: plain names keep only these, names after a
/// minus leave these out, "baseline" keeps none; what a missing feature carries (avx2 needs avx) goes with
/// it, and what a kept one needs stays. An empty list changes nothing. Throws UserError for a name that this
/// CPU does not have.
Cpu restrict_cpu(Cpu cpu, const std::string& names);

}  // namespace ondula::jit
