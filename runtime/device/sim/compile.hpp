// The stand-in's NVRTC: CUDA text to a binary that runs on this machine's CPU.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace ondula::sim {

/// What one compilation gave.
struct Compiled {
  bool succeeded = false;
  std::vector<std::byte> binary;  ///< for Program::load
  std::string log;  ///< the compiler's diagnostics, "NAME(LINE): error: ..." as NVRTC writes them
};

/// Compiles `text`, called `name` in diagnostics, for the architecture of --gpu-architecture (-arch) among
/// `options`; other options of NVRTC are read as far as they mean anything here (-D, -lineinfo), unknown ones
/// fail the compilation with a log that names them. Arithmetic is that of --fmad=false. Throws RuntimeError
/// where the Clang module is missing.
Compiled compile(const std::string& name, const std::string& text, const std::vector<std::string>& options);

}  // namespace ondula::sim
