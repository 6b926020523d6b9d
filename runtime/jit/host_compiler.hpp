// Turns the text of host kernels into callable code: from memory, from the disk cache, or through Clang.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "runtime/jit/cache.hpp"
#include "runtime/jit/clang_library.hpp"
#include "runtime/jit/cpu.hpp"
#include "runtime/jit/elf_loader.hpp"

namespace ondula::jit {

/// What the emitter hands over.
struct HostSource {
  std::string text;                  ///< freestanding C++; kernels are extern "C"
  std::string equation;              ///< whose kernels these are, for messages
  std::vector<std::string> options;  ///< as host_options.hpp lists them; empty for the defaults
  std::string manifest;              ///< stored beside the binary
};

/// What one call of HostCompiler::compile did.
struct CompileRecord {
  std::string key;                ///< of the cache entry
  std::string equation;           ///< whose kernels
  bool cache_hit = false;         ///< from the disk
  bool in_process = false;        ///< this compiler had it already
  bool clang_loaded = false;      ///< the Clang module was used, hence loaded
  double seconds = 0;             ///< of the whole call
  std::size_t text_bytes = 0;     ///< of the source
  std::size_t payload_bytes = 0;  ///< of the object
};

/// Compiled kernels, mapped. Code stays valid while the module lives.
class HostModule {
 public:
  /// Maps an object. Throws as ElfImage does.
  HostModule(std::span<const std::byte> object, CompileRecord record);

  /// The address of an extern "C" function. Throws InternalError listing what there is.
  void* symbol(const std::string& name) const;
  /// The names of all functions and data with external linkage, sorted.
  std::vector<std::string> symbols() const;
  /// How it came to be.
  const CompileRecord& record() const { return record_; }

 private:
  friend class HostCompiler;
  ElfImage image_;
  CompileRecord record_;
};

/// Compiles each text once: per process one result per key, shared by all threads; across processes the disk
/// cache. A text that did not compile is remembered, and its error thrown again. No lock is held during a
/// compilation.
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
  std::vector<CompileRecord> history() const;
  /// The cache key of a source: never a path, a size or a device number.
  std::string key_of(const HostSource& source) const;
  /// What kernels are compiled for.
  const Cpu& cpu() const { return cpu_; }
  /// The disk cache.
  Cache& cache() { return cache_; }

 private:
  using Module = std::shared_ptr<const HostModule>;

  Module load_or_compile(const HostSource& source, const std::string& key);
  Module load(const HostSource& source, const std::string& key);
  Module build(const HostSource& source, const std::string& key);
  const ClangLibrary& clang();
  void remember(const CompileRecord& record);

  Cpu cpu_;
  Log log_;
  Cache cache_;
  std::once_flag clang_once_;
  std::unique_ptr<ClangLibrary> clang_;
  mutable std::mutex mutex_;  ///< of the two below
  std::map<std::string, std::shared_future<Module>> modules_;
  std::vector<CompileRecord> history_;
};

}  // namespace ondula::jit
