// docs/standalone.md shows what `ondula generate` writes.
// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <filesystem>

#include "runtime/jit/clang_library.hpp"
#include "tests/support/skip.hpp"
#include "tests/support/temporary_directory.hpp"
#include "tests/tools/program.hpp"

namespace ondula::test {
namespace {

namespace fs = std::filesystem;

/// The texts between fences.
std::vector<std::string> shown(const std::string& document) {
  std::vector<std::string> blocks;
  const std::string open = "```cpp\n", close = "```\n";
  for (std::size_t at = document.find(open); at != std::string::npos; at = document.find(open, at)) {
    at += open.size();
    const std::size_t end = document.find(close, at);
    blocks.push_back(document.substr(at, end - at));
    at = end + close.size();
  }
  return blocks;
}

}  // namespace

TEST_CASE("docs/standalone.md shows what `ondula generate` writes") {
  const jit::ClangStatus clang = jit::inspect_clang();
  if (!clang.usable) ONDULA_SKIP("the sources are not formatted here: " + clang.problem);
  TemporaryDirectory directory;
  const fs::path folder = directory.path() / "x";
  REQUIRE(
      run_program({"generate", "acoustic", "--dims", "2", "--order", "4", "-o", folder.string()}).status ==
      0);
  std::string written;
  for (const auto& entry : fs::directory_iterator(folder)) written += read_file(entry.path());
  const auto blocks = shown(read_file(fs::path(ONDULA_TESTS_DIR) / "../docs/standalone.md"));
  CHECK(blocks.size() == 6);
  for (const std::string& block : blocks) {
    CAPTURE(block);
    CHECK(written.find(block) != std::string::npos);
  }
}

}  // namespace ondula::test
