// docs/cases.md and the tests agree: every case has its line, and the files a line names hold the case.
// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>

namespace ondula::test {
namespace {

namespace fs = std::filesystem;

std::string contents(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

/// The cases a test file names: "E1, E10: ..." counts for both.
std::set<std::string> cases_of(const std::string& source) {
  static const std::regex name(R"re(TEST_CASE\(\s*"((?:[A-F][0-9]+(?:, )?)+):)re");
  static const std::regex number("[A-F][0-9]+");
  std::set<std::string> found;
  for (std::sregex_iterator i(source.begin(), source.end(), name), end; i != end; ++i) {
    const std::string list = (*i)[1];
    for (std::sregex_iterator n(list.begin(), list.end(), number); n != end; ++n) found.insert(n->str());
  }
  return found;
}

/// Case -> test files its line of docs/cases.md names, relative to tests/.
std::map<std::string, std::set<std::string>> table() {
  std::map<std::string, std::set<std::string>> result;
  std::istringstream lines(contents(fs::path(ONDULA_TESTS_DIR) / "../docs/cases.md"));
  static const std::regex row(R"(\| ([A-F][0-9]+) \|.*)"), file(R"([a-z_0-9/]+\.cpp)");
  for (std::string line; std::getline(lines, line);) {
    std::smatch match;
    if (!std::regex_match(line, match, row)) continue;
    CHECK_FALSE(result.contains(match[1]));
    auto& files = result[match[1]];
    for (std::sregex_iterator i(line.begin(), line.end(), file), end; i != end; ++i) files.insert(i->str());
  }
  return result;
}

}  // namespace

TEST_CASE("docs: cases.md has a line for every case") {
  const auto lines = table();
  const std::map<char, int> counts = {{'A', 27}, {'B', 20}, {'C', 27}, {'D', 11}, {'E', 21}, {'F', 13}};
  for (const auto& [letter, count] : counts) {
    for (int i = 1; i <= count; ++i) {
      const std::string number = letter + std::to_string(i);
      CAPTURE(number);
      CHECK(lines.contains(number));
    }
  }
}

TEST_CASE("docs: cases.md and the names of the tests agree") {
  const auto lines = table();
  std::map<std::string, std::set<std::string>> tests;
  for (const auto& entry : fs::recursive_directory_iterator(ONDULA_TESTS_DIR)) {
    if (entry.path().extension() != ".cpp") continue;
    for (const std::string& number : cases_of(contents(entry.path())))
      tests[number].insert(fs::relative(entry.path(), ONDULA_TESTS_DIR).string());
  }
  for (const auto& [number, files] : lines) {
    CAPTURE(number);
    const std::set<std::string>& holding = tests[number];
    CHECK(files.empty() == holding.empty());
    for (const std::string& file : files) {
      CAPTURE(file);
      CHECK(holding.contains(file));
    }
  }
}

}  // namespace ondula::test
