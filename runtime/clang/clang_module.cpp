// Compiles freestanding C++ in memory with Clang, and formats it.
// SPDX-License-Identifier: MIT
#include "runtime/clang/clang_module.h"

#include <llvm-c/Core.h>
#include <llvm/Support/CommandLine.h>

#include <mutex>
#include <string>

#include "runtime/clang/job.hpp"

namespace {

using ondula::clang_module::Output;
using ondula::clang_module::run_guarded;

/// While one lives, LLVM's loop strength reduction is off: it gives every tap of a stencil a pointer of its
/// own, which costs a third of the compile time and 5 to 11 % of the speed (measured). There is no switch for
/// it but LLVM's own, which is the process's: it is put back as soon as no compilation of ours needs it.
class WithoutStrengthReduction {
 public:
  WithoutStrengthReduction() {
    const std::lock_guard lock(mutex());
    if (users()++ == 0) set(true);
  }
  WithoutStrengthReduction(const WithoutStrengthReduction&) = delete;
  WithoutStrengthReduction& operator=(const WithoutStrengthReduction&) = delete;
  ~WithoutStrengthReduction() {
    const std::lock_guard lock(mutex());
    if (--users() == 0) set(false);
  }

 private:
  static std::mutex& mutex() {
    static std::mutex instance;
    return instance;
  }
  static int& users() {
    static int count = 0;
    return count;
  }
  /// Its name is not part of LLVM's interface; a version without it compiles as before.
  static void set(bool value) {
    auto& known = llvm::cl::getRegisteredOptions();
    const auto found = known.find("disable-lsr");
    if (found != known.end()) static_cast<llvm::cl::opt<bool>*>(found->second)->setValue(value);
  }
};

}  // namespace

extern "C" {

__attribute__((visibility("default"))) int ondula_clang_interface(void) { return ONDULA_CLANG_INTERFACE; }

__attribute__((visibility("default"))) const char* ondula_clang_version(void) {
  static const std::string version = [] {
    // Asked of the library that is loaded, which a package upgrade may have made newer than the headers.
    unsigned major = 0, minor = 0, patch = 0;
    LLVMGetVersion(&major, &minor, &patch);
    return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(patch);
  }();
  return version.c_str();
}

__attribute__((visibility("default"))) void ondula_clang_compile(const ondula_clang_request* request,
                                                                 ondula_clang_result* result) {
  const WithoutStrengthReduction plain_addresses;  // out here, since a fatal error jumps over what is inside
  run_guarded(result, [request](Output& output) { return ondula::clang_module::compile(*request, output); });
}

__attribute__((visibility("default"))) void ondula_clang_build(const ondula_clang_program* program,
                                                               ondula_clang_result* result) {
  run_guarded(result, [program](Output& output) { return ondula::clang_module::build(*program, output); });
}

__attribute__((visibility("default"))) void ondula_clang_format(const ondula_clang_text* text,
                                                                ondula_clang_result* result) {
  run_guarded(result, [text](Output& output) { return ondula::clang_module::format(*text, output); });
}

__attribute__((visibility("default"))) void ondula_clang_release(ondula_clang_result* result) {
  delete static_cast<Output*>(result->storage);
  *result = {};
}

}  // extern "C"
