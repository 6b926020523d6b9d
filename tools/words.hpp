// Numbers as people read them.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "runtime/types.hpp"

namespace ondula::tools {

/// "512 B", "3.4 kB", "1.25 GB": powers of 1000.
std::string bytes_text(double bytes);
/// "0.3 ms", "1.2 s", "3 min 20 s", "2 h 05 min".
std::string seconds_text(double seconds);
/// "1234567" as "1 234 567".
std::string count_text(std::int64_t count);
/// "float32" or "float64".
std::string dtype_text(DType dtype);
/// "host" or "reference".
std::string backend_text(Backend backend);
/// "z 134, x 384".
std::string extents_text(const std::vector<std::string>& axes, const std::vector<std::int64_t>& extents);

/// A path as short as it can be said here: relative where it lies under the current folder.
std::string path_text(const std::string& path);

}  // namespace ondula::tools
