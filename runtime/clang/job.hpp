// Work for Clang in a thread of its own, from which LLVM's fatal errors come back.
// SPDX-License-Identifier: MIT
#pragma once

#include <llvm/ADT/SmallString.h>

#include <functional>
#include <string>

#include "runtime/clang/clang_module.h"

namespace ondula::clang_module {

/// What a result's `storage` points to.
struct Output {
  llvm::SmallString<0> object;
  std::string log;
  std::string dependencies;
  std::string findings;
};

/// Fills `result` from what `work` makes; true where it succeeded. LLVM's targets are ready, floating-point
/// state is the default one, the stack is deep. Throws nothing.
void run_guarded(ondula_clang_result* result, const std::function<bool(Output&)>& work) noexcept;

}  // namespace ondula::clang_module
