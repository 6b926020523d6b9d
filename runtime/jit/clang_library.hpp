// Finds libondula-clang.so and opens it, when something has to be compiled.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "runtime/clang/clang_module.h"

namespace ondula::jit {

/// Where the Clang module is and whether it can be used.
struct ClangStatus {
  bool usable = false;
  std::string path;                   ///< of the module; empty when none was found
  std::string version;                ///< of the LLVM it loaded, "19.1.7"; empty when it could not be opened
  std::string built_version;          ///< of the LLVM this Ondula was built with, or "none"
  std::vector<std::string> searched;  ///< the places looked at, in order
  std::string problem;                ///< why it is not usable, and what to do; empty when it is
};

/// What `ondula doctor` tells of the Clang module: looks for it and opens it.
ClangStatus inspect_clang();

/// The LLVM version this Ondula was built with, or "none"; known without opening anything.
std::string built_clang_version();
/// The version of this Ondula.
std::string ondula_version();

/// The module, open. It stays loaded until the process ends, since LLVM cannot be unloaded safely.
class ClangLibrary {
 public:
  /// What one compilation gave.
  struct Compiled {
    bool succeeded = false;
    std::vector<std::byte> object;
    std::string log;
    std::vector<std::string> dependencies;  ///< of build(): files included, none of the system's
    std::string findings;                   ///< of build(): as clang_module.h describes them
  };
  /// A header of Ondula's by the name that goes between angles, "ondula/dsl.hpp".
  struct Header {
    std::string name, text;
  };

  /// Opens the module. Throws RuntimeError saying what is missing and where it was looked for.
  ClangLibrary();

  /// Compiles `text`, called `name` in diagnostics, with the given arguments of `clang -cc1`. From any
  /// thread.
  Compiled compile(const std::string& name, const std::string& text,
                   const std::vector<std::string>& arguments) const;
  /// Compiles a C++ file that its author wrote, `path`, with `headers` and those of Clang and the system;
  /// `arguments` are the `clang` driver's. Lints it where it compiles. From any thread.
  Compiled build(const std::string& path, const std::string& text, const std::vector<Header>& headers,
                 const std::vector<std::string>& arguments) const;
  /// `text` as clang-format lays it out in the house's style; `name`'s end tells the language. Throws
  /// RuntimeError where the formatter gives up.
  std::string format(const std::string& name, const std::string& text) const;
  /// The version of the LLVM that is loaded.
  const std::string& version() const { return version_; }
  const std::string& path() const { return path_; }

 private:
  friend ClangStatus inspect_clang();
  explicit ClangLibrary(ClangStatus& status);

  std::string path_;
  std::string version_;
  ondula_clang_compile_function* compile_ = nullptr;
  ondula_clang_build_function* build_ = nullptr;
  ondula_clang_format_function* format_ = nullptr;
  ondula_clang_release_function* release_ = nullptr;
};

}  // namespace ondula::jit
