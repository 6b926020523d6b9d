// What the JIT tests share: a kernel, a cache of their own, a process of their own.
// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "runtime/jit/cuda_compiler.hpp"
#include "runtime/jit/host_compiler.hpp"
#include "tests/support/skip.hpp"
#include "tests/support/temporary_directory.hpp"

namespace ondula::test {

/// Collects warnings from any thread.
class Warnings {
 public:
  /// The sink to hand over; refers to this object.
  jit::Log sink();
  std::vector<std::string> all() const;

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> messages_;
};

/// A kernel `axpy(y, x, a, n)`: y = fma(a, x, y) + `constant`. Another constant is another text.
jit::HostSource axpy_source(int constant = 0);
/// Whether the module's axpy computes what axpy_source says.
bool axpy_works(const jit::HostModule& module, int constant = 0);

/// A CUDA kernel `axpy(y, x, a, n)`: y = fma(a, x, y) + `constant`, in blocks of at most 256 threads.
jit::KernelSource cuda_axpy_source(int constant = 0);

/// Options of a cache in `directory`.
jit::CacheOptions cache_in(const TemporaryDirectory& directory);
/// Every file below `directory`, as paths relative to it, sorted.
std::vector<std::string> files_below(const std::filesystem::path& directory);
/// The bytes of a file.
std::string read_bytes(const std::filesystem::path& path);
/// Replaces a file's bytes.
void write_bytes(const std::filesystem::path& path, const std::string& bytes);

/// Runs `body` in a forked process, its stdout and stderr going to `output` if given. True if it returned
/// true, without a signal or an exception.
bool in_child(const std::function<bool()>& body, const std::filesystem::path& output = {});
/// Whether this process has LLVM mapped.
bool llvm_is_loaded();

}  // namespace ondula::test

/// Skips a case that compiles, where there is no Clang to compile with.
#define ONDULA_NEEDS_CLANG() \
  if (::ondula::jit::built_clang_version() == "none") ONDULA_SKIP("built without LLVM and Clang 19")
