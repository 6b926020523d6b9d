// Counting operator new and delete.
// SPDX-License-Identifier: MIT
#include "tests/support/allocations.hpp"

#include <malloc.h>

#include <atomic>
#include <cstdlib>
#include <new>

namespace ondula::test {
namespace {

std::atomic<std::size_t> now{0}, peak{0};

void* counted(void* memory) {
  if (memory == nullptr) throw std::bad_alloc();
  const std::size_t held = now += malloc_usable_size(memory);
  std::size_t before = peak;
  while (held > before && !peak.compare_exchange_weak(before, held)) {
  }
  return memory;
}

void uncounted(void* memory) {
  now -= malloc_usable_size(memory);
  std::free(memory);
}

std::size_t rounded(std::size_t size, std::size_t alignment) {
  return (size + alignment - 1) / alignment * alignment;
}

}  // namespace

std::size_t allocated_now() { return now; }
std::size_t allocated_peak() { return peak; }
void forget_allocated_peak() { peak = now.load(); }

}  // namespace ondula::test

using ondula::test::counted;
using ondula::test::rounded;
using ondula::test::uncounted;

// The other forms call these.
void* operator new(std::size_t size) { return counted(std::malloc(size > 0 ? size : 1)); }
void* operator new(std::size_t size, std::align_val_t alignment) {
  const auto bytes = static_cast<std::size_t>(alignment);
  return counted(std::aligned_alloc(bytes, rounded(size > 0 ? size : 1, bytes)));
}
void operator delete(void* memory) noexcept { uncounted(memory); }
void operator delete(void* memory, std::size_t) noexcept { uncounted(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { uncounted(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { uncounted(memory); }
