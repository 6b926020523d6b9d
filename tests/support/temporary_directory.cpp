// Makes and removes a folder for one test case.
// SPDX-License-Identifier: MIT
#include "tests/support/temporary_directory.hpp"

#include <cerrno>
#include <cstdlib>
#include <string>
#include <system_error>

namespace ondula::test {

TemporaryDirectory::TemporaryDirectory() {
  std::string pattern = (std::filesystem::temp_directory_path() / "ondula-test-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr)
    throw std::system_error(errno, std::generic_category(), "mkdtemp " + pattern);
  path_ = pattern;
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code ignored;  // a destructor may not throw, and a folder left behind harms no test
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace ondula::test
