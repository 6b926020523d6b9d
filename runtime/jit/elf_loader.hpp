// Maps a relocatable x86-64 ELF object into this process, without a linker and without LLVM.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>

namespace ondula::jit {

/// The code and data of one object, mapped once; code is executable and never writable. Unmapped when
/// destroyed.
class ElfImage {
 public:
  /// Maps `object`, a little-endian ET_REL file for x86-64 compiled position-independent, and resolves its
  /// relocations. A symbol it does not define must be one of memcpy, memmove, memset and libm's functions of
  /// the emitted text. Throws InternalError naming the field, the relocation or the symbol where the object
  /// is not such a file or is damaged, RuntimeError when memory cannot be mapped.
  explicit ElfImage(std::span<const std::byte> object);
  ~ElfImage();
  ElfImage(const ElfImage&) = delete;
  ElfImage& operator=(const ElfImage&) = delete;

  /// The address of a global symbol, or nullptr.
  void* symbol(const std::string& name) const;
  /// Every global symbol and its address.
  const std::map<std::string, void*>& symbols() const { return symbols_; }
  /// Bytes mapped.
  std::size_t mapped_bytes() const { return size_; }

 private:
  std::byte* base_ = nullptr;
  std::size_t size_ = 0;
  std::map<std::string, void*> symbols_;
};

}  // namespace ondula::jit
