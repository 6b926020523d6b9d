// A loaded program: its kernels' machine code, plain and checked.
// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "runtime/device/sim/binary.hpp"
#include "runtime/device/sim/executor.hpp"
#include "runtime/device/sim/lines.hpp"
#include "runtime/jit/elf_loader.hpp"

namespace ondula::sim {

/// As CUDA's built-in variables; templates/sim_prelude.cpp.in has the same.
struct Dim3 {
  unsigned x = 0, y = 0, z = 0;
};

/// Which threads of which block one call runs: from `first` up to `last`.
struct ThreadRange {
  Dim3 grid, block, index, first, last;
};

/// A kernel's entry point: runs the threads of the range with the packed arguments.
using Entry = void (*)(const ThreadRange* range, const char* arguments);

/// One compilation of the text, mapped.
struct Variant {
  std::unique_ptr<jit::ElfImage> image;
  std::vector<Entry> entries;   ///< by Kernel::index
  std::span<std::byte> shared;  ///< the static shared memory of all kernels
  Lines lines;                  ///< of checked code
};

/// What the code calls: barriers, and the looks at loads and stores (checker.hpp).
std::map<std::string, void*> kernel_callbacks();

class LoadedProgram final : public Program {
 public:
  explicit LoadedProgram(Binary binary);
  const Kernel* find(const std::string& name) const override;
  std::vector<const Kernel*> kernels() const override;
  int capability() const override { return binary_.capability; }

  const Variant& plain() const { return plain_; }
  /// Compiled at the first call; `arithmetic`: looks at integers too. Throws RuntimeError where that fails.
  const Variant& checked(bool arithmetic) const;
  /// Held while a launch uses the shared memory, of which there is one.
  std::mutex& shared_memory() const { return shared_memory_; }

 private:
  Variant map(std::span<const std::byte> object) const;

  Binary binary_;
  std::vector<Kernel> kernels_;
  Variant plain_;
  mutable std::mutex checked_mutex_, shared_memory_;
  mutable Variant checked_, arithmetic_;
};

/// The layout a compiled object states for its i-th kernel: parameters and launch bounds.
void read_layout(const jit::ElfImage& image, std::size_t index, Kernel& kernel);

}  // namespace ondula::sim
