// Buffers against guard pages.
// SPDX-License-Identifier: MIT
#include "tests/equations/guarded_device.hpp"

#include <sys/mman.h>

#include <cstring>
#include <new>

namespace ondula::test {

device::Buffer GuardedDevice::allocate(std::size_t bytes) {
  constexpr std::size_t page = 4096;
  const std::size_t whole = (bytes + page - 1) / page * page;
  const Mapping mapping{
      mmap(nullptr, whole + 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
      whole + 2 * page};
  if (mapping.begin == MAP_FAILED) throw std::bad_alloc();
  char* const first = static_cast<char*>(mapping.begin) + page;
  mprotect(mapping.begin, page, PROT_NONE);
  mprotect(first + whole, page, PROT_NONE);
  std::memset(first, 0xff, whole);  // NaN: what no kernel wrote may not matter
  void* const data = guard_ == Guard::before ? first : first + (whole - bytes);
  mappings_[data] = mapping;
  account(bytes);
  return {this, data, bytes};
}

void GuardedDevice::release(void* data, std::size_t bytes) noexcept {
  const auto found = mappings_.find(data);
  munmap(found->second.begin, found->second.bytes);
  mappings_.erase(found);
  unaccount(bytes);
}

}  // namespace ondula::test
