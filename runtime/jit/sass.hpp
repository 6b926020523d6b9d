// Counts what the machine code of a kernel does: instructions, arithmetic, loads and stores by kind.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace ondula::jit {

/// Instructions of one kind of memory, as they stand in the code, and the bytes one thread moves by each
/// once.
struct MemoryCounts {
  int loads = 0;
  int stores = 0;
  std::int64_t load_bytes = 0;
  std::int64_t store_bytes = 0;
};

/// Counts over a stretch of code: each instruction counts once, however often it runs.
struct SassCounts {
  int instructions = 0;  ///< all but the no-operations that fill the last line
  int fma = 0;           ///< fused multiply-adds, float32 and float64
  int add = 0;           ///< floating-point additions
  int multiply = 0;      ///< floating-point multiplications
  int barriers = 0;
  MemoryCounts global;  ///< and generic ones
  MemoryCounts shared;
  MemoryCounts local;  ///< spills and arrays that stay out of registers
};

/// The whole of a kernel's code, and the smallest loop that stores to global memory: what one point costs
/// where a thread goes through many. A kernel without such a loop has loop.instructions 0.
struct SassSummary {
  SassCounts all;
  SassCounts loop;
};

/// Reads 128-bit instructions of compute capability 7.5 to 12.1; `capability` is 10 * major + minor, for the
/// encoding of branches. An instruction it does not know counts as an instruction and nothing else.
SassSummary summarize_sass(std::span<const std::byte> code, int capability);

}  // namespace ondula::jit
