// Findings that the author allows: `// ondula: allow(ID, ...)` on the line, or on one of its own before it.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "runtime/lint/finding.hpp"
#include "runtime/lint/said.hpp"

namespace ondula::lint {

/// The findings without warnings that a comment allows, and with one for each comment of the file that allows
/// what is not there. Errors cannot be allowed.
std::vector<Finding> without_allowed(std::vector<Finding> findings, Lines& lines, const std::string& text);

}  // namespace ondula::lint
