// Memory of the stand-in's devices, and pinned memory: each allocation a mapping between guard pages.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

namespace ondula::sim {

struct ContextObject;

/// One allocation.
struct Region {
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
class Regions {
 public:
  static constexpr std::size_t alignment = 256;
  /// A larger allocation is not filled: it may be meant to stay sparse.
  static constexpr std::size_t nan_bytes = std::size_t{256} << 20;

  Regions() = default;
  Regions(const Regions&) = delete;
  Regions& operator=(const Regions&) = delete;
  ~Regions();

  /// Null where the machine has no room. `bytes` is not 0.
  const Region* create(std::size_t bytes, ContextObject* owner, const Placement& placement);
  /// The region that holds all of these bytes, or null.
  const Region* covering(std::uint64_t address, std::size_t bytes) const;
  /// The region that begins at `address`, or null.
  const Region* beginning(std::uint64_t address) const;
  void destroy(const Region& region);
  const std::map<std::uint64_t, Region>& all() const { return regions_; }

 private:
  std::map<std::uint64_t, Region> regions_;
};

}  // namespace ondula::sim
