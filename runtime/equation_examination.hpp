// An equation's file compiled and linted, before anything of it runs: internal to the runtime and the tools.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "runtime/equation_file.hpp"
#include "runtime/lint/finding.hpp"

namespace ondula {

/// What is known of a file that was compiled, or taken from the cache.
struct EquationExamination {
  bool compiled = false;
  std::string text;                     ///< what the file held
  std::vector<lint::Finding> findings;  ///< errors where it did not compile, else warnings
  std::size_t more = 0;                 ///< errors that are left out
  std::string log;                      ///< what the compiler says without a place
  /// Loads what was compiled. Throws as load_equations does.
  std::function<std::vector<EquationDefinition>()> load;
};

/// Compiles `path` unless the cache has it. Throws UserError where it cannot be read, RuntimeError where the
/// Clang module is missing.
EquationExamination examine_equations(const std::string& path, const EquationFileOptions& options = {});

/// What the language has against equations.
struct LanguageFindings {
  /// Each complaint once, as an error with id "language": of equations that can be stated over 1, 2 or 3 axes
  /// in none of these.
  std::vector<lint::Finding> findings;
  /// "equation mine, 1-D: MESSAGE": of the others, where they cannot. An equation may be for the plane alone.
  std::vector<std::string> elsewhere;
};

/// Runs the authors' texts.
LanguageFindings language_findings(const std::vector<EquationDefinition>& definitions,
                                   const EquationExamination& examined);

}  // namespace ondula
