// Reads from a cubin what each kernel uses: registers, memory, instructions.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "runtime/jit/sass.hpp"

namespace ondula::jit {

/// What one kernel of a cubin uses.
struct KernelUse {
  std::string name;
  int registers = 0;                 ///< per thread
  std::int64_t stack_bytes = 0;      ///< local memory per thread: spills, and arrays out of registers
  std::int64_t shared_bytes = 0;     ///< static, per block; without what the system reserves
  std::int64_t parameter_bytes = 0;  ///< of its arguments
  std::int64_t code_bytes = 0;
  int max_threads = 0;  ///< per block, of its launch bounds; 0: not stated
  SassSummary code;
};

/// A cubin's kernels by name, and what they share.
struct CubinUse {
  int capability = 0;               ///< 10 * major + minor
  std::int64_t constant_bytes = 0;  ///< of __constant__ variables
  std::vector<KernelUse> kernels;   ///< sorted by name
};

/// Reads a cubin, an ELF file for CUDA. Throws InternalError saying what is damaged.
CubinUse read_cubin(std::span<const std::byte> cubin);

}  // namespace ondula::jit
