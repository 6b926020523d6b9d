// Work for Clang in a thread of its own, from which LLVM's fatal errors come back.
// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <string>

#include "runtime/clang/clang_module.h"

namespace ondula::clang_module {

/// What a result's `storage` points to.
struct Output {
  std::string object;
  std::string log;
  std::string dependencies;
  std::string findings;
};

/// Fills `result` from what `work` makes; true where it succeeded. LLVM's targets are ready, floating-point
/// state is the default one, the stack is deep. Throws nothing.
void run_guarded(ondula_clang_result* result, const std::function<bool(Output&)>& work) noexcept;

/// The work there is: an object of a kernel's text, an object of an author's file with what is found in it, a
/// text laid out, whose includes stay in their order.
bool compile(const ondula_clang_request& request, Output& output);
bool build(const ondula_clang_program& program, Output& output);
bool format(const ondula_clang_text& text, Output& output);

}  // namespace ondula::clang_module
