// Where compiled kernels are kept on disk, and where warnings go.
// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

namespace ondula::jit {

/// Where warnings go; may be called from any thread that compiles. Empty: they are dropped.
using Log = std::function<void(const std::string&)>;

/// For tests: asked before each "open", "write" and "rename"; a result other than 0 fails the call with that
/// errno.
using Fault = std::function<int(const char* operation)>;

/// Where the cache is and how it behaves.
struct CacheOptions {
  /// The folder; "off" for none; empty for ONDULA_CACHE, else $XDG_CACHE_HOME/ondula, else ~/.cache/ondula.
  std::string directory;
  /// The limit on the sum of its files, bytes; 0 for ONDULA_CACHE_LIMIT, else 1 GiB.
  std::uint64_t limit_bytes = 0;
  /// How old a half-written file of a dead process gets before it is removed.
  std::chrono::seconds stale_after = std::chrono::hours(1);
  /// For tests: failures to inject into file operations.
  Fault fault = {};
};

}  // namespace ondula::jit
