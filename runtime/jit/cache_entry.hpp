// One cache entry and its bytes on disk.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace ondula::jit {

/// What the cache keeps of one compilation.
struct CacheEntry {
  std::string key;                   ///< 32 hexadecimal digits
  std::string backend;               ///< "host" or "cuda"
  std::string equation;              ///< whose kernels these are
  std::string source;                ///< the full text; compared on load
  std::vector<std::string> options;  ///< the compiler's arguments
  std::string architecture;          ///< "x86-64", "sm_90", "compute_90"
  std::string cpu;                   ///< vendor, family, model and features in words; empty for cuda
  std::string compiler;              ///< name and version
  std::string log;                   ///< what the compiler said
  std::string manifest;              ///< the emitter's, as it came
  std::string created;               ///< UTC, "2025-01-31T12:00:00Z"
  double compile_seconds = 0;        ///< how long the compilation took
  std::vector<std::byte> payload;    ///< the binary
};

/// Version of the layout below; part of every key, so that another layout is a miss and not an error.
inline constexpr unsigned cache_format = 1;

/// The file of an entry, all integers little-endian: 8 bytes of magic, format (u32), reserved (u32, zero),
/// metadata size (u64), payload size (u64), the metadata as JSON, the payload, and 32 hexadecimal digits of
/// XXH3-128 over everything before them.
std::vector<std::byte> encode_entry(const CacheEntry& entry);

/// The inverse. Throws InternalError saying what is damaged.
CacheEntry decode_entry(std::span<const std::byte> file);

}  // namespace ondula::jit
