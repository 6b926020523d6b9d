// From CUDA text to C++ text and machine code: what compile() and the checked code share.
// SPDX-License-Identifier: MIT
#pragma once

#include "runtime/device/sim/binary.hpp"
#include "runtime/jit/clang_library.hpp"

namespace ondula::sim {

/// What machine code does besides what the text says: plain, nothing, its loops over threads vectorised where
/// they can be; checked, a call before each load and store; arithmetic, one more after each integer operation
/// whose result does not fit.
enum class Code { plain, checked, arithmetic };

/// Compiles `text`, which is binary.text or one of the same kernels. Throws RuntimeError where the Clang
/// module is missing.
jit::ClangLibrary::Compiled compile_variant(const Binary& binary, const std::string& text, Code code);

}  // namespace ondula::sim
