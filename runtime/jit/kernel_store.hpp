// Compiled kernels, made once: per process one result per key, across processes the disk cache.
// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstddef>
#include <exception>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/error.hpp"
#include "runtime/jit/cache.hpp"

namespace ondula::jit {

/// What an emitter hands over.
struct KernelSource {
  std::string text;                  ///< header-free text; kernels are extern "C"
  std::string equation;              ///< whose kernels these are, for messages
  std::vector<std::string> options;  ///< as host_options.hpp and cuda_options.hpp list them; empty: defaults
  std::string manifest;              ///< stored beside the binary
  /// Host text alone: compiled so many times at once, the k-th with ONDULA_PART defined as k, by which it
  /// leaves out what is another's.
  int parts = 1;
};

/// What one call of a compiler did.
struct CompileRecord {
  std::string key;                ///< of the cache entry
  std::string equation;           ///< whose kernels
  bool cache_hit = false;         ///< from the disk
  bool in_process = false;        ///< this compiler had it already
  bool compiled = false;          ///< Clang or NVRTC was used, hence loaded
  double seconds = 0;             ///< of the whole call
  std::size_t text_bytes = 0;     ///< of the source
  std::size_t payload_bytes = 0;  ///< of the binary
};

/// What a compiler made of a source. `entry` comes with the payload, options, architecture, cpu, compiler and
/// log set.
struct Built {
  bool succeeded = false;
  bool keep = true;  ///< may go to the disk cache
  CacheEntry entry;
};

/// The text's name in diagnostics and in the binary: the equation's, reduced to what a file name may hold,
/// with `extension`.
std::string text_name(const std::string& equation, const std::string& extension);

/// Fills the record of a source that was found or made.
CompileRecord record_of(const std::string& key, const KernelSource& source, std::size_t payload_bytes);

/// Fills what every entry has: key, backend, source, manifest, time.
void complete_entry(CacheEntry& entry, const std::string& backend, const std::string& key,
                    const KernelSource& source, double seconds);

/// Saves the text and throws the CompileError of a source that `backend` ("host", "cuda") could not compile.
[[noreturn]] void throw_failure(Cache& cache, const std::string& backend, const std::string& extension,
                                const std::string& key, const KernelSource& source, const std::string& log);

/// Obtains modules by key. All threads that ask for a key share one result; a text that did not compile is
/// remembered, and its error thrown again; other errors may pass and are not. No lock is held during a
/// compilation. `Module` is made from (const CacheEntry&, const CompileRecord&), throws InternalError for a
/// payload that is damaged, and lets the store set its record_.
template <class Module>
class KernelStore {
 public:
  using Pointer = std::shared_ptr<const Module>;

  /// `backend` is "host" or "cuda", `extension` that of its texts (".cpp").
  KernelStore(std::string backend, std::string extension, const CacheOptions& cache, const Log& log)
      : backend_(std::move(backend)), extension_(std::move(extension)), cache_(cache, log) {}

  /// The module of `key`: this process's, else the cache's, else what `build()` (returning Built) makes of
  /// `source`. Throws CompileError where that fails, and whatever `build` throws.
  template <class Build>
  Pointer obtain(const std::string& key, const KernelSource& source, const Build& build) {
    const Clock::time_point start = Clock::now();
    std::promise<Pointer> promise;
    std::shared_future<Pointer> earlier;
    {
      const std::scoped_lock lock(mutex_);
      const auto [entry, added] = modules_.try_emplace(key);
      if (added) {
        entry->second = promise.get_future().share();
      } else {
        earlier = entry->second;
      }
    }
    if (earlier.valid()) return shared(earlier, start);
    try {
      Pointer module = load(key, source);
      if (!module) module = make(key, source, build);
      promise.set_value(module);
      remember(module->record());
      return module;
    } catch (const CompileError&) {
      promise.set_exception(std::current_exception());
      throw;
    } catch (...) {
      // A missing compiler or full memory may pass; only a wrong text stays wrong.
      {
        const std::scoped_lock lock(mutex_);
        modules_.erase(key);
      }
      promise.set_exception(std::current_exception());
      throw;
    }
  }

  /// One record per successful call so far, in the order they ended.
  std::vector<CompileRecord> history() const {
    const std::scoped_lock lock(mutex_);
    return history_;
  }
  Cache& cache() { return cache_; }

 private:
  using Clock = std::chrono::steady_clock;

  static double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
  }

  Pointer shared(const std::shared_future<Pointer>& earlier, Clock::time_point start) {
    Pointer module = earlier.get();
    CompileRecord record = module->record();
    record.cache_hit = record.compiled = false;
    record.in_process = true;
    record.seconds = seconds_since(start);
    remember(record);
    return module;
  }

  Pointer load(const std::string& key, const KernelSource& source) {
    const Clock::time_point start = Clock::now();
    const std::optional<CacheEntry> entry = cache_.load(key, source.text);
    if (!entry) return nullptr;
    CompileRecord record = record_of(key, source, entry->payload.size());
    record.cache_hit = true;
    try {
      auto module = std::make_shared<Module>(*entry, record);
      module->record_.seconds = seconds_since(start);
      return module;
    } catch (const InternalError& error) {
      cache_.discard(key, error.what());
      return nullptr;
    }
  }

  template <class Build>
  Pointer make(const std::string& key, const KernelSource& source, const Build& build) {
    const Clock::time_point start = Clock::now();
    Built built = build();
    if (!built.succeeded) throw_failure(cache_, backend_, extension_, key, source, built.entry.log);
    CompileRecord record = record_of(key, source, built.entry.payload.size());
    record.compiled = true;
    auto module = std::make_shared<Module>(built.entry, record);
    module->record_.seconds = seconds_since(start);
    complete_entry(built.entry, backend_, key, source, module->record_.seconds);
    if (built.keep) cache_.store(built.entry);
    return module;
  }

  void remember(const CompileRecord& record) {
    const std::scoped_lock lock(mutex_);
    history_.push_back(record);
  }

  std::string backend_;
  std::string extension_;
  Cache cache_;
  mutable std::mutex mutex_;  ///< of the two below
  std::map<std::string, std::shared_future<Pointer>> modules_;
  std::vector<CompileRecord> history_;
};

}  // namespace ondula::jit
