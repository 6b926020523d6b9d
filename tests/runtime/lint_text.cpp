// The linter's text work: carets, edits, operands of a line, and files written.
// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

#include "compiler/error.hpp"
#include "runtime/lint/edits.hpp"
#include "runtime/lint/scan.hpp"
#include "runtime/lint/wording.hpp"
#include "runtime/lint/write.hpp"
#include "tests/runtime/lint_support.hpp"
#include "tests/support/messages.hpp"
#include "tests/tools/program.hpp"

namespace ondula::test {
namespace {

using lint::Edit;
using lint::Finding;

TEST_CASE("lint: a caret stands under its character, behind tabs and letters of several bytes") {
  CHECK(lint::excerpt(7, "  a = b;", 5, 3, 8) == "    7 |   a = b;\n      |   ~~^~~\n");
  CHECK(lint::excerpt(7, "\ta = b;", 4, 4, 5) == "    7 | \ta = b;\n      | \t  ^\n");
  CHECK(lint::excerpt(7, "/* \xCE\xBB */ x", 10, 10, 11) == "    7 | /* \xCE\xBB */ x\n      |         ^\n");
  CHECK(lint::excerpt(1, "\xEF\xBB\xBFx = 1;", 4, 4, 5) == "    1 | \xEF\xBB\xBFx = 1;\n      | ^\n");
  CHECK(lint::excerpt(7, "\xE9 = 1", 3, 3, 4) == "    7 | ? = 1\n      |   ^\n");
  // Past the end, as where a semicolon is missing.
  CHECK(lint::excerpt(7, "x", 2, 2, 3) == "    7 | x\n      |  ^\n");
}

TEST_CASE("lint: bytes that are no UTF-8 are found") {
  CHECK(lint::find_foreign_byte("plain, \xCE\xBB, \xE2\x88\x82, \xF0\x9D\x9B\xB1") == std::string::npos);
  for (const std::string wrong :
       {"ab\xE9", "ab\xC0\xAF", "ab\xED\xA0\x80", "ab\xF5\x80\x80\x80", "ab\xE2\x88", "ab\x80"})
    CHECK(lint::find_foreign_byte(wrong) == 2);
}

TEST_CASE("lint: operands and arguments of a line") {
  const std::string line = "  auto b = 2 * rho.at(1)^-2.5 + std::max(a, f(b, c));";
  const std::size_t hat = line.find('^');
  CHECK(lint::operand_before(line, hat).text == "rho.at(1)");
  CHECK(lint::operand_after(line, hat + 1).text == "-2.5");
  const lint::Part name = lint::name_at(line, line.find("max"));
  CHECK(name.text == "std::max");
  CHECK(lint::arguments_after(line, name.to) == std::vector<std::string>{"a", "f(b, c)"});
  CHECK(lint::arguments_after("f(\"a, b)\", 2)", 1) == std::vector<std::string>{"\"a, b)\"", "2"});
  CHECK(lint::operand_before(")^2", 1).empty());
}

Finding mending(const std::string& id, const std::vector<Edit>& fixes) {
  return {.id = id, .file = "f", .message = "", .line_text = "", .fixes = fixes};
}

TEST_CASE("lint: fixes are applied together, each finding's all or none, and guesses are not") {
  const std::string text = "a = 1/2;\nb = 3/4;\n";
  const std::vector<Finding> findings = {
      mending("integer-division", {{"f", 1, 6, 1, 6, ".0"}}),
      mending("integer-division", {{"f", 1, 5, 1, 8, "0.5"}, {"f", 2, 1, 2, 2, "c"}}),
      mending("name", {{"f", 2, 1, 2, 2, "d"}}),
      mending("integer-division", {{"g", 2, 6, 2, 6, ".0"}}),
      mending("integer-division", {{"f", 9, 1, 9, 1, "x"}}),
      mending("power", {{"f", 2, 5, 2, 8, "0.75"}})};
  const lint::Fixed fixed = lint::fixed("f", text, findings);
  CHECK(fixed.text == "a = 1.0/2;\nb = 0.75;\n");
  CHECK(fixed.applied == std::vector<std::size_t>{0, 5});
}

TEST_CASE("lint: a file that has changed meanwhile is not written, rights and links stay") {
  const AuthorsFolder folder;
  const std::string text = "a = 1/2;\n";
  const std::string path = folder.write("a.cpp", text), link = folder.path("link.cpp");
  namespace fs = std::filesystem;
  fs::permissions(path, fs::perms::owner_read | fs::perms::owner_write | fs::perms::group_read);
  const fs::perms rights = fs::status(path).permissions();
  fs::create_symlink(path, link);
  const std::vector<Finding> findings = {
      {.id = "power", .file = link, .message = "", .line_text = "", .fixes = {{link, 1, 6, 1, 6, ".0"}}}};
  CHECK(message_of<UserError>([&] { lint::write_fixes(link, "a = 1/3;\n", findings); }) ==
        link + " has changed since it was read: nothing is written; lint it again");
  CHECK(read_file(path) == text);
  CHECK(lint::write_fixes(link, text, findings) == 1);
  CHECK(read_file(path) == "a = 1.0/2;\n");
  CHECK(fs::is_symlink(link));
  CHECK(fs::status(path).permissions() == rights);
  CHECK(std::distance(fs::directory_iterator(fs::path(path).parent_path()), {}) ==
        2);  // no temporary is left
}

TEST_CASE("lint: the language's functions are read from its header") {
  const std::vector<std::string> names = lint::vocabulary_of(
      "class ONDULA_API Tensor {};\nONDULA_API TimeDerivative dt(const Located& f);\n"
      "ONDULA_API Tensor operator+(const Located& a);\nONDULA_API Tensor grad(const Located& t);\n");
  CHECK(names == std::vector<std::string>{"grad", "dt"});
}

}  // namespace
}  // namespace ondula::test
