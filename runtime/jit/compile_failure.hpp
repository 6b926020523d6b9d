// The message of a kernel that did not compile.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

namespace ondula::jit {

/// What is known of a failed compilation.
struct CompileFailure {
  std::string backend = "host";      ///< whose compiler
  std::string equation;              ///< whose kernels
  std::string source;                ///< the text
  std::string name;                  ///< the text's name in the log
  std::vector<std::string> options;  ///< the caller's
  std::string log;                   ///< the compiler's
  std::string saved_path;            ///< where the text was saved; empty if nowhere
};

/// One message: the equation, the first errors, each with its line of the text and the nearest comment line
/// above it (where the emitter says which line of the equation a statement comes from), the options and the
/// saved source.
std::string describe_failure(const CompileFailure& failure);

}  // namespace ondula::jit
