// Applying fixes to a text.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "runtime/lint/finding.hpp"

namespace ondula::lint {

/// `text` with all the edits, which must not overlap; those outside of the text are left out.
std::string edited(const std::string& text, const std::vector<Edit>& edits);

/// Whether the fix of a finding is certain enough to be written without asking: not that of a misspelt name.
bool mends(const Finding& finding);

/// A text after fixes.
struct Fixed {
  std::string text;
  std::vector<std::size_t> applied;  ///< which findings' fixes it has, by number
};

/// Applies the fixes that mend findings and lie in `file` alone, each finding's all or none: of two that
/// overlap the first.
Fixed fixed(const std::string& file, const std::string& text, const std::vector<Finding>& findings);

}  // namespace ondula::lint
