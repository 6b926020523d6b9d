// Maps a relocatable x86-64 ELF object into this process, without a linker and without LLVM.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace ondula::jit {

/// What a program's object may do that a kernel's may not: begin with static initialisers, throw, and call
/// what `resolve` knows the address of (nullptr: refused).
struct ElfProgram {
  std::string name;  ///< for messages
  std::function<void*(const std::string&)> resolve;
};

/// The code and data of one object, mapped once; code is executable and never writable. Unmapped when
/// destroyed.
class ElfImage {
 public:
  /// Maps the object of a C++ program's text (compiled position-independent, unwind tables included), makes
  /// its exceptions known to the process and runs its static initialisers; destroyed, it runs its static
  /// destructors. Throws UserError where it uses thread-local data or a symbol that is not resolved, and what
  /// its initialisers throw; else as below.
  ElfImage(std::span<const std::byte> object, const ElfProgram& program);
  /// Maps `object`, a little-endian ET_REL file for x86-64 compiled position-independent, and resolves its
  /// relocations. A symbol it does not define must be one of `more`, or of memcpy, memmove, memset and libm's
  /// functions of the emitted text. Throws InternalError naming the field, the relocation or the symbol where
  /// the object is not such a file or is damaged, RuntimeError when memory cannot be mapped.
  explicit ElfImage(std::span<const std::byte> object, const std::map<std::string, void*>& more = {});
  ~ElfImage();
  ElfImage(const ElfImage&) = delete;
  ElfImage& operator=(const ElfImage&) = delete;

  /// The address of a global symbol, or nullptr.
  void* symbol(const std::string& name) const;
  /// Every global symbol and its address.
  const std::map<std::string, void*>& symbols() const { return symbols_; }
  /// The bytes of the section called `name`; empty where there is none that is loaded.
  std::span<std::byte> section(const std::string& name) const;
  /// Whether an address lies in what is mapped.
  bool contains(std::uint64_t address) const {
    const auto begin = reinterpret_cast<std::uint64_t>(base_);
    return address >= begin && address - begin < size_;
  }
  /// Bytes mapped.
  std::size_t mapped_bytes() const { return size_; }

 private:
  void load(std::span<const std::byte> object, const std::map<std::string, void*>& more,
            const ElfProgram* program);
  void initialise();
  void retire() noexcept;

  std::byte* base_ = nullptr;
  std::size_t size_ = 0;
  bool program_ = false;
  std::map<std::string, void*> symbols_;
  std::map<std::string, std::span<std::byte>> sections_;
  std::vector<std::span<std::byte>> starts_;
};

}  // namespace ondula::jit
