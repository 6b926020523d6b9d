// Writing fixes into an author's file.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "runtime/lint/finding.hpp"

namespace ondula::lint {

/// Writes what mends `findings` into `file`, whose text was `text` when they were found: the whole new text
/// or nothing; rights stay, and of a link the target is written. Returns how many findings are mended. Throws
/// UserError where the file holds another text by now or cannot be written, RuntimeError where the disk
/// fails.
std::size_t write_fixes(const std::string& file, const std::string& text,
                        const std::vector<Finding>& findings);

}  // namespace ondula::lint
