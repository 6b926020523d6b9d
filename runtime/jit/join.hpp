// Joins names for messages.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ondula::jit {

/// "a, b, c". (fmt::join would do, but g++ 12 warns falsely inside it at -O3.)
inline std::string join(const std::vector<std::string>& parts, std::string_view separator = ", ") {
  std::string joined;
  for (const std::string& part : parts) {
    if (!joined.empty()) joined += separator;
    joined += part;
  }
  return joined;
}

}  // namespace ondula::jit
