// Equations from C++ files of their authors.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "compiler/dsl/definition.hpp"
#include "compiler/export.hpp"
#include "runtime/jit/cache_options.hpp"

namespace ondula {

/// How equations' files are compiled.
struct EquationFileOptions {
  jit::CacheOptions cache;             ///< where what was compiled is kept
  jit::Log log;                        ///< gets the compiler's warnings
  std::vector<std::string> arguments;  ///< more of the `clang` driver's, "-I..." say
};

/// Every EQUATION of a C++ file, in the file's order. The file includes <ondula/dsl.hpp> and whatever of the
/// standard library and of its author's own; it is compiled as C++20 in this process, and again when it, an
/// included file or Ondula has changed. The definitions keep the compiled text loaded. Throws UserError where
/// the file cannot be read, states no equation, two of one name, or calls what is nowhere defined,
/// CompileError with the compiler's log, the author's lines in it, where it is no C++, RuntimeError where the
/// Clang module is missing.
ONDULA_API std::vector<EquationDefinition> load_equations(const std::string& path,
                                                          const EquationFileOptions& options = {});

/// The file's one equation, or of "path:NAME" the one of that name. Throws as load_equations does, and
/// UserError listing the file's equations where the name is not among them, or none is given and there are
/// several.
ONDULA_API EquationDefinition load_equation(const std::string& path, const EquationFileOptions& options = {});

/// Whether a text names a file: it has a slash, or ends in .cpp, .cc or .cxx, and then perhaps :NAME.
ONDULA_API bool is_equation_path(const std::string& text);

/// A built-in equation by its name, or what load_equation makes of a path. Throws as both do.
ONDULA_API EquationDefinition find_equation(const std::string& name_or_path,
                                            const EquationFileOptions& options = {});

}  // namespace ondula
