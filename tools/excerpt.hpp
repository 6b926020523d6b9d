// The line of an author's file that a message is about.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>

namespace ondula::tools {

/// Where `message` begins with a place, "path:line: " or "path:line:column: ", and that file can be read: the
/// line and a caret below it, as compilers show it, each ended; without a column the caret stands under the
/// line's first character. Else "".
std::string excerpt(const std::string& message);

}  // namespace ondula::tools
