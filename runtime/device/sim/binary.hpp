// The binary of the stand-in: an ELF file for CUDA in whose extra section the machine's own code stands.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace ondula::sim {

/// What a binary says of one kernel.
struct BinaryKernel {
  std::string name;
  std::vector<std::string> parameters;  ///< names, "" where the text has none
  bool barriers = false;
  int threads_bound = 0;  ///< of __launch_bounds__; 0: not said
  int blocks_bound = 0;
  std::int64_t argument_bytes = 0;
  std::int64_t shared_bytes = 0;
};

/// A compiled text.
struct Binary {
  int capability = 0;                  ///< 90 for sm_90
  std::string name;                    ///< of the text, in diagnostics
  std::string text;                    ///< C++: prelude, CUDA text, entry points
  std::vector<std::string> arguments;  ///< of clang -cc1, without those that differ between the variants
  std::vector<BinaryKernel> kernels;
  std::vector<std::byte> object;  ///< for this machine
};

/// As bytes. What reads cubins (runtime/jit/cubin.hpp) reads of it names, bounds, shared and argument bytes.
std::vector<std::byte> write_binary(const Binary& binary);

/// Throws RuntimeError where `bytes` are none of the stand-in's, or are damaged.
Binary read_binary(std::span<const std::byte> bytes);

/// The bytes of the ELF file that begins at `image`, of which 64 bytes can be read; 0 where none does, as
/// with PTX text.
std::size_t binary_bytes(const void* image);

}  // namespace ondula::sim
