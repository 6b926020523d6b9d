// The DSL's headers as texts, for the compilation of equations' files.
// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "runtime/jit/clang_library.hpp"

namespace ondula::jit {

/// As they are installed, each in the folder `ondula`; written at build time (ondula/embed_headers.py).
const std::vector<ClangLibrary::Header>& dsl_headers();

}  // namespace ondula::jit
