// Identifiers of generated text: the author's names, kept apart from keywords and from our own.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>

namespace ondula::passes {

/// `name` as an identifier of generated C++ or CUDA: dots become underscores; a name that is a keyword, a
/// built-in of CUDA, or one the emitters use themselves (t0, w3, i, row, real, blockIdx, ...) gains a
/// trailing underscore, which no author's name can have.
std::string identifier(const std::string& name);

}  // namespace ondula::passes
