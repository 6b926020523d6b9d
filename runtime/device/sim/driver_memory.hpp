// Memory of the stand-in's devices, and pinned memory: each allocation a mapping between guard pages.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

namespace ondula::sim::driver {

struct ContextObject;

/// One allocation.
struct Allocation {
  std::uint64_t address = 0;
  std::size_t bytes = 0;
  ContextObject* owner = nullptr;
  void* mapping = nullptr;  ///< with its guard pages
  std::size_t mapped = 0;   ///< bytes of the mapping
};

/// How a new allocation looks.
struct Placement {
  bool at_end =
      false;  ///< it ends (rounded to its alignment of 256) where a guard page begins, not begins there
  bool nan = false;  ///< filled with bytes 0xff up to nan_bytes, otherwise zero
};

/// Allocations of one kind, by address.
class Allocations {
 public:
  static constexpr std::size_t alignment = 256;
  /// A larger allocation is not filled: it may be meant to stay sparse.
  static constexpr std::size_t nan_bytes = std::size_t{256} << 20;

  Allocations() = default;
  Allocations(const Allocations&) = delete;
  Allocations& operator=(const Allocations&) = delete;
  ~Allocations();

  /// Null where the machine has no room. `bytes` is not 0.
  const Allocation* create(std::size_t bytes, ContextObject* owner, const Placement& placement);
  /// The allocation that holds all of these bytes, or null.
  const Allocation* covering(std::uint64_t address, std::size_t bytes) const;
  /// The allocation that begins at `address`, or null.
  const Allocation* beginning(std::uint64_t address) const;
  void destroy(const Allocation& allocation);
  const std::map<std::uint64_t, Allocation>& all() const { return allocations_; }

 private:
  std::map<std::uint64_t, Allocation> allocations_;
};

}  // namespace ondula::sim::driver
