// Turns CUDA text into cubins or PTX: from memory, from the disk cache, or through NVRTC. No GPU is needed.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "runtime/jit/cache.hpp"
#include "runtime/jit/cubin.hpp"
#include "runtime/jit/cuda_architecture.hpp"
#include "runtime/jit/cuda_toolkit.hpp"
#include "runtime/jit/kernel_store.hpp"
#include "runtime/jit/nvrtc.hpp"

namespace ondula::jit {

/// The lines of a log that are warnings, of NVRTC or of its assembler.
std::vector<std::string> warnings_in(const std::string& log);

/// A compiled CUDA text, ready for a driver to load.
class CudaModule {
 public:
  /// Takes the entry's payload. Throws InternalError where it is no cubin or PTX of its architecture.
  CudaModule(const CacheEntry& entry, CompileRecord record);

  /// The cubin, or the PTX where architecture().portable.
  std::span<const std::byte> binary() const { return binary_; }
  const CudaArchitecture& architecture() const { return architecture_; }
  /// Of the NVRTC that made it.
  const CudaVersion& nvrtc() const { return nvrtc_; }
  /// What each kernel uses, by name; empty for PTX, whose registers the driver allots.
  const CubinUse& use() const { return use_; }
  /// What NVRTC and its assembler said; with "--ptxas-options=-v" registers and spills too.
  const std::string& log() const { return log_; }
  /// The log's warnings, a line each.
  std::vector<std::string> warnings() const { return warnings_in(log_); }
  /// How it came to be.
  const CompileRecord& record() const { return record_; }

 private:
  friend class KernelStore<CudaModule>;
  std::vector<std::byte> binary_;
  CudaArchitecture architecture_;
  CudaVersion nvrtc_;
  CubinUse use_;
  std::string log_;
  CompileRecord record_;
};

/// Compiles each text once, as KernelStore says. What is cached loads without opening NVRTC.
class CudaCompiler {
 public:
  /// `toolkit` is the CUDA toolkit's folder; empty for CUDA_HOME and the usual places. `log` gets warnings,
  /// NVRTC's too. Opens no library and no file of the cache.
  explicit CudaCompiler(const CacheOptions& cache = {}, Log log = {}, const std::string& toolkit = "");

  /// The kernels of `source` for `architecture`. Throws CompileError (with the failing lines, the log and the
  /// saved source's path) where the text is wrong, RuntimeError where NVRTC or a part of it is missing,
  /// UserError for an unknown option or an architecture that NVRTC does not compile for.
  std::shared_ptr<const CudaModule> compile(const KernelSource& source, const CudaArchitecture& architecture);

  /// What to compile for a device of this compute capability. Opens NVRTC; throws as choose_architecture().
  CudaArchitecture architecture_for(int major, int minor);
  /// One record per successful call so far, in the order they ended.
  std::vector<CompileRecord> history() const { return store_.history(); }
  /// The cache key of a source: never a path, a size or a device number.
  std::string key_of(const KernelSource& source, const CudaArchitecture& architecture) const;
  /// The disk cache.
  Cache& cache() { return store_.cache(); }

 private:
  Built build(const KernelSource& source, const CudaArchitecture& architecture);
  const Nvrtc& nvrtc();

  std::string toolkit_;
  NvrtcFile file_;
  Log log_;
  KernelStore<CudaModule> store_;
  std::once_flag nvrtc_once_;
  std::unique_ptr<Nvrtc> nvrtc_;
};

/// The key of `source` under an NVRTC whose build is `nvrtc_build`. Throws UserError for an unknown option.
std::string cuda_key(const KernelSource& source, const CudaArchitecture& architecture,
                     const std::string& nvrtc_build);

}  // namespace ondula::jit
