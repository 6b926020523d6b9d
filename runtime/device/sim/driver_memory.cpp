// Maps, finds and unmaps allocations.
// SPDX-License-Identifier: MIT
#include "runtime/device/sim/driver_memory.hpp"

#include <sys/mman.h>

#include <cstring>

namespace ondula::sim::driver {
namespace {

constexpr std::size_t page = 4096;
constexpr std::size_t huge_page = std::size_t{2} << 20;

std::size_t rounded(std::size_t bytes, std::size_t unit) { return (bytes + unit - 1) / unit * unit; }

}  // namespace

Allocations::~Allocations() {
  for (const auto& [address, allocation] : allocations_) munmap(allocation.mapping, allocation.mapped);
}

const Allocation* Allocations::create(std::size_t bytes, ContextObject* owner, const Placement& placement) {
  constexpr std::size_t most = std::size_t{1} << 46;
  if (bytes > most) return nullptr;
  const std::size_t body = rounded(bytes, page);
  const std::size_t mapped = body + 2 * page;
  void* const mapping = mmap(nullptr, mapped, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping == MAP_FAILED) return nullptr;
  char* const first = static_cast<char*>(mapping) + page;
  if (mprotect(first, body, PROT_READ | PROT_WRITE) != 0) {
    munmap(mapping, mapped);
    return nullptr;
  }
  if (body >= huge_page) madvise(first, body, MADV_HUGEPAGE);
  char* const start = placement.at_end ? first + (body - rounded(bytes, alignment)) : first;
  if (placement.nan && bytes <= nan_bytes) std::memset(start, 0xff, bytes);
  const auto address = reinterpret_cast<std::uint64_t>(start);
  return &allocations_.emplace(address, Allocation{address, bytes, owner, mapping, mapped}).first->second;
}

const Allocation* Allocations::covering(std::uint64_t address, std::size_t bytes) const {
  auto after = allocations_.upper_bound(address);
  if (after == allocations_.begin()) return nullptr;
  const Allocation& allocation = (--after)->second;
  const std::uint64_t offset = address - allocation.address;
  return offset < allocation.bytes && bytes <= allocation.bytes - offset ? &allocation : nullptr;
}

const Allocation* Allocations::beginning(std::uint64_t address) const {
  const auto at = allocations_.find(address);
  return at == allocations_.end() ? nullptr : &at->second;
}

void Allocations::destroy(const Allocation& allocation) {
  munmap(allocation.mapping, allocation.mapped);
  allocations_.erase(allocation.address);
}

}  // namespace ondula::sim::driver
