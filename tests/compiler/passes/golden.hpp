// Listings kept beside the tests, in tests/compiler/golden. ONDULA_UPDATE_GOLDEN=1 writes them anew: read the
// difference before committing it. SPDX-License-Identifier: MIT
#pragma once

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

namespace ondula::test {

inline bool update_golden() {
  const char* value = std::getenv("ONDULA_UPDATE_GOLDEN");
  return value != nullptr && std::string(value) == "1";
}

/// Compares `text` with golden/NAME.txt, or writes it.
inline void check_golden(const std::string& name, const std::string& text) {
  const std::string path = fmt::format("{}/compiler/golden/{}.txt", ONDULA_TESTS_DIR, name);
  if (update_golden()) {
    std::ofstream(path) << text;
  }
  std::ifstream file(path);
  std::ostringstream kept;
  kept << file.rdbuf();
  INFO("golden listing ", path, "; ONDULA_UPDATE_GOLDEN=1 rewrites it");
  REQUIRE(file.good());
  CHECK(kept.str() == text);
}

}  // namespace ondula::test
