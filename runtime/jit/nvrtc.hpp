// NVRTC, opened at run time: CUDA text to a cubin or to PTX.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "runtime/jit/cuda_architecture.hpp"

namespace ondula::jit {

/// Whether NVRTC is here, and where it was looked for.
struct NvrtcStatus {
  bool usable = false;
  std::string path;      ///< of libnvrtc.so.*; empty when none was found
  std::string build;     ///< as library_build() tells it
  std::string builtins;  ///< the path of libnvrtc-builtins.so.* beside it; empty: the loader's business
  CudaVersion version;   ///< 0.0 when it could not be opened
  std::vector<int> architectures;     ///< it compiles for: 75, 80, ... 120
  std::vector<std::string> searched;  ///< the places looked at, in order
  std::string problem;                ///< why it is not usable, and what to do; empty when it is
};

/// Looks for NVRTC as find_nvrtc() does, opens it and compiles nothing.
NvrtcStatus inspect_nvrtc(const std::string& toolkit = "");

/// NVRTC, open. It stays loaded until the process ends.
class Nvrtc {
 public:
  /// What one compilation gave.
  struct Compiled {
    bool succeeded = false;
    std::vector<std::byte> binary;  ///< the cubin, or the PTX without its closing zero
    std::string log;                ///< errors and warnings; empty when there were none
  };

  /// Opens it. Throws RuntimeError saying what is missing and where it was looked for.
  explicit Nvrtc(const std::string& toolkit = "");

  /// Compiles `text`, called `name` in the log, by NVRTC's own options. `portable`: PTX is wanted. From any
  /// thread. Throws RuntimeError where NVRTC lacks its builtins library or memory, or refuses an option.
  Compiled compile(const std::string& name, const std::string& text,
                   const std::vector<std::string>& arguments, bool portable) const;
  /// What was found.
  const NvrtcStatus& status() const { return status_; }

 private:
  friend NvrtcStatus inspect_nvrtc(const std::string& toolkit);
  // NVRTC's C interface. A result of 0 is success.
  using Program = void*;
  struct Functions {
    int (*version)(int*, int*) = nullptr;
    int (*architecture_count)(int*) = nullptr;
    int (*architectures)(int*) = nullptr;
    const char* (*error_text)(int) = nullptr;
    int (*create)(Program*, const char*, const char*, int, const char* const*, const char* const*) = nullptr;
    int (*destroy)(Program*) = nullptr;
    int (*compile)(Program, int, const char* const*) = nullptr;
    int (*log_size)(Program, std::size_t*) = nullptr;
    int (*log)(Program, char*) = nullptr;
    int (*cubin_size)(Program, std::size_t*) = nullptr;
    int (*cubin)(Program, char*) = nullptr;
    int (*ptx_size)(Program, std::size_t*) = nullptr;
    int (*ptx)(Program, char*) = nullptr;
  };
  struct Owner;

  Nvrtc(const std::string& toolkit, NvrtcStatus& status);
  void open();
  void load_builtins();
  void check(int result, const char* call) const;
  [[noreturn]] void refuse_builtins(const std::string& log) const;

  NvrtcStatus status_;
  Functions call_;
};

}  // namespace ondula::jit
