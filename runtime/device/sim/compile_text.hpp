// From CUDA text to C++ text and machine code: what compile() and the checked code share.
// SPDX-License-Identifier: MIT
#pragma once

#include "runtime/device/sim/binary.hpp"
#include "runtime/jit/clang_library.hpp"

namespace ondula::sim {

/// Compiles `text`, which is binary.text or one of the same kernels: plain, its loops over threads vectorised
/// where they can be, or checked, with a call before each load and store. Throws RuntimeError where the Clang
/// module is missing.
jit::ClangLibrary::Compiled compile_variant(const Binary& binary, const std::string& text, bool checked);

}  // namespace ondula::sim
