// A folder that lives as long as the object.
// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>

namespace ondula::test {

/// Makes an empty folder of its own under TMPDIR, and removes it with all it holds when destroyed.
class TemporaryDirectory {
 public:
  /// Throws std::system_error if no folder can be made.
  TemporaryDirectory();
  ~TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  const std::filesystem::path& path() const noexcept { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace ondula::test
