// Maps, finds and unmaps allocations.
// SPDX-License-Identifier: MIT
#include "runtime/device/sim/driver_memory.hpp"

#include <sys/mman.h>

#include <cstring>

namespace ondula::sim {
namespace {

constexpr std::size_t page = 4096;
constexpr std::size_t huge_page = std::size_t{2} << 20;

std::size_t rounded(std::size_t bytes, std::size_t unit) { return (bytes + unit - 1) / unit * unit; }

}  // namespace

Regions::~Regions() {
  for (const auto& [address, region] : regions_) munmap(region.mapping, region.mapped);
}

const Region* Regions::create(std::size_t bytes, ContextObject* owner, const Placement& placement) {
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
  return &regions_.emplace(address, Region{address, bytes, owner, mapping, mapped}).first->second;
}

const Region* Regions::covering(std::uint64_t address, std::size_t bytes) const {
  auto after = regions_.upper_bound(address);
  if (after == regions_.begin()) return nullptr;
  const Region& region = (--after)->second;
  const std::uint64_t offset = address - region.address;
  return offset < region.bytes && bytes <= region.bytes - offset ? &region : nullptr;
}

const Region* Regions::beginning(std::uint64_t address) const {
  const auto at = regions_.find(address);
  return at == regions_.end() ? nullptr : &at->second;
}

void Regions::destroy(const Region& region) {
  munmap(region.mapping, region.mapped);
  regions_.erase(region.address);
}

}  // namespace ondula::sim
