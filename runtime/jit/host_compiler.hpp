// Turns the text of host kernels into callable code: from memory, from the disk cache, or through Clang.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "runtime/jit/cache.hpp"
#include "runtime/jit/clang_library.hpp"
#include "runtime/jit/cpu.hpp"
#include "runtime/jit/elf_loader.hpp"
#include "runtime/jit/kernel_store.hpp"

namespace ondula::jit {

/// What the host emitter hands over.
using HostSource = KernelSource;

/// Compiled kernels, mapped. Code stays valid while the module lives.
class HostModule {
 public:
  /// Maps an object, or several (host_parts.hpp). Throws as ElfImage and split_parts do.
  HostModule(std::span<const std::byte> objects, CompileRecord record);
  /// Maps an entry's object.
  HostModule(const CacheEntry& entry, CompileRecord record);

  /// The address of an extern "C" function. Throws InternalError listing what there is.
  void* symbol(const std::string& name) const;
  /// The names of all functions and data with external linkage, sorted.
  std::vector<std::string> symbols() const;
  /// How it came to be.
  const CompileRecord& record() const { return record_; }

 private:
  friend class KernelStore<HostModule>;
  std::vector<std::unique_ptr<const ElfImage>> images_;
  CompileRecord record_;
};

/// Compiles each text once, as KernelStore says.
class HostCompiler {
 public:
  /// `cpu_features` as in restrict_cpu; empty for ONDULA_CPU_FEATURES. `log` gets warnings. Throws UserError
  /// where an option is wrong. Opens neither LLVM nor a file.
  explicit HostCompiler(const CacheOptions& cache = {}, Log log = {}, const std::string& cpu_features = "");

  /// The kernels of `source`. Throws CompileError (with the failing lines, the log and the saved source's
  /// path) where the text is wrong, RuntimeError where the Clang module is missing, UserError for an unknown
  /// option.
  std::shared_ptr<const HostModule> compile(const HostSource& source);

  /// One record per successful call so far, in the order they ended.
  std::vector<CompileRecord> history() const { return store_.history(); }
  /// The cache key of a source: never a path, a size or a device number.
  std::string key_of(const HostSource& source) const;
  /// What kernels are compiled for.
  const Cpu& cpu() const { return cpu_; }
  /// The disk cache.
  Cache& cache() { return store_.cache(); }

 private:
  Built build(const HostSource& source);
  std::vector<ClangLibrary::Compiled> compile_parts(const HostSource& source, const std::string& name);
  const ClangLibrary& clang();

  Cpu cpu_;
  Log log_;
  KernelStore<HostModule> store_;
  std::once_flag clang_once_;
  std::unique_ptr<ClangLibrary> clang_;
};

/// The key of `source` for `cpu` under a Clang of version `clang`. Throws UserError for an unknown option.
std::string host_key(const HostSource& source, const Cpu& cpu, const std::string& clang);

}  // namespace ondula::jit
