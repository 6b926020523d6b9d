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

/// What the language has against the equations over 1, 2 and 3 axes: each complaint once, as an error with id
/// "language". Runs the authors' texts.
std::vector<lint::Finding> language_findings(const std::vector<EquationDefinition>& definitions,
                                             const EquationExamination& examined);

}  // namespace ondula
