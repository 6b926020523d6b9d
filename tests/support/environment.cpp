// Reads the environment variables of a test run.
// SPDX-License-Identifier: MIT
#include "tests/support/environment.hpp"

#include <cstdlib>
#include <string_view>

namespace ondula::test {

std::optional<std::filesystem::path> data_path(const std::string& name) {
  const char* folder = std::getenv("ONDULA_DATA");
  if (folder == nullptr || *folder == '\0') return std::nullopt;
  std::filesystem::path path = std::filesystem::path(folder) / name;
  if (!std::filesystem::exists(path)) return std::nullopt;
  return path;
}

bool full_matrices() {
  const char* value = std::getenv("ONDULA_FULL");
  return value != nullptr && std::string_view(value) == "1";
}

}  // namespace ondula::test
