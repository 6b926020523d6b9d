// One sentence for each thing the compiler and the linter say, in the words of the language of equations.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "runtime/lint/finding.hpp"
#include "runtime/lint/said.hpp"

namespace ondula::lint {

/// The findings of a file, and how many errors are left out.
struct Worded {
  std::vector<Finding> findings;
  std::size_t more = 0;
};

/// At most three errors, one a line, and no warnings beside them: what follows a first error is mostly its
/// consequence. Errors within headers are told at the author's line that led there. `vocabulary` is the
/// functions of the language.
Worded worded(const Report& report, Lines& lines, const std::vector<std::string>& vocabulary);

/// The functions that a header of the language's declares, "grad", in its order.
std::vector<std::string> vocabulary_of(const std::string& header);

}  // namespace ondula::lint
