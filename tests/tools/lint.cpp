// `ondula lint`: status, stdout, JSON, and fixes in the file.
// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <fstream>

#include "tests/runtime/jit/support.hpp"
#include "tests/runtime/lint_support.hpp"
#include "tests/tools/program.hpp"

namespace ondula::test {
namespace {

using Json = nlohmann::ordered_json;

TEST_CASE("lint: what is found is on stdout with its line, and the status is 1") {
  ONDULA_NEEDS_CLANG();
  const AuthorsFolder folder;
  const std::string path = folder.write("mine.cpp", equation_text("  vp = 3/2 * vp;\n"));
  const Outcome found = run_program({"lint", path});
  CHECK(found.status == 1);
  CHECK(found.out == path +
                         ":5:8: warning: 3/2 divides integers and gives 1: write 3.0/2 [integer-division]\n"
                         "    5 |   vp = 3/2 * vp;\n"
                         "      |        ^~~\n"
                         "  fix |   vp = 3.0/2 * vp;\n");
  CHECK(found.err == "ondula: " + path + ": 1 finding; --fix mends 1\n");
  const Outcome json = run_program({"lint", path, "--json"});
  CHECK(json.status == 1);
  const Json answer = Json::parse(json.out);
  CHECK(answer["status"] == 1);
  REQUIRE(answer["findings"].size() == 1);
  CHECK(answer["findings"][0] == Json{{"id", "integer-division"},
                                      {"level", "warning"},
                                      {"file", path},
                                      {"line", 5},
                                      {"column", 8},
                                      {"begin", 8},
                                      {"end", 11},
                                      {"message", "3/2 divides integers and gives 1: write 3.0/2"},
                                      {"text", "  vp = 3/2 * vp;"},
                                      {"fixes",
                                       {{{"file", path},
                                         {"line", 5},
                                         {"column", 9},
                                         {"end_line", 5},
                                         {"end_column", 9},
                                         {"text", ".0"}}}}});
  const Outcome fixed = run_program({"lint", path, "--fix"});
  CHECK(fixed.status == 0);
  CHECK(fixed.out == path + ": mended 1; nothing found\n");
  CHECK(read_file(path) == equation_text("  vp = 3.0/2 * vp;\n"));
}

TEST_CASE("lint: --fix keeps line ends and mends errors of the compiler where it is sure") {
  ONDULA_NEEDS_CLANG();
  const AuthorsFolder folder;
  const std::string path = folder.write("mine.cpp",
                                        "EQUATION(mine, \"x\") {\r\n  auto u = scalar(\"u\", \"Pa\");\r\n  "
                                        "auto c = parameter(\"c\", \"m/s\")\r\n"
                                        "  evolve(dtt(u) == c^2 * laplacian(u));\r\n}\r\n");
  std::vector<int> statuses;
  for (int round = 0; round < 4; ++round) statuses.push_back(run_program({"lint", path, "--fix"}).status);
  CHECK(statuses.back() == 0);
  CHECK(read_file(path) ==
        "#include <ondula/dsl.hpp>\nEQUATION(mine, \"x\") {\r\n  auto u = scalar(\"u\", \"Pa\");\r\n"
        "  auto c = parameter(\"c\", \"m/s\");\r\n  evolve(dtt(u) = sq(c) * laplacian(u));\r\n}\r\n");
}

TEST_CASE("lint: the language's own complaints, files that do not compile, and those that cannot be read") {
  ONDULA_NEEDS_CLANG();
  const AuthorsFolder folder;
  const std::string path = folder.write("units.cpp", equation_text("  u = u + vp;\n"));
  const Outcome language = run_program({"lint", path});
  CHECK(language.status == 1);
  CHECK(language.out ==
        path +
            ":5:7: error: equation mine: adds [m/s] to [kg/(m s^2)]: terms of a sum must have one unit "
            "[language]\n    5 |   u = u + vp;\n      |       ^\n");
  const std::string wrong = folder.write("wrong.cpp", equation_text("  auto b = laplacan(u);\n"));
  const Outcome compiler = run_program({"lint", wrong, "--json"});
  CHECK(compiler.status == 3);
  CHECK(Json::parse(compiler.out)["status"] == 3);
  CHECK(Json::parse(compiler.out)["findings"][0]["id"] == "name");
  CHECK(compiler.err == "ondula: " + wrong + " does not compile: 1 finding\n");
  const std::string none = folder.write("none.cpp", "int nothing = 0;\n");
  const Outcome idle = run_program({"lint", none});
  CHECK(idle.status == 1);
  CHECK(idle.out ==
        none + ": error: equation file " + none +
            ": it states no equation; write EQUATION(name, \"description\") { ... } [language]\n");
  const Outcome absent = run_program({"lint", folder.path("absent.cpp")});
  CHECK(absent.status == 2);
  CHECK(absent.err == "ondula: equation file " + folder.path("absent.cpp") + ": there is no such file\n");
  const std::string latin = folder.write("latin.cpp", "#include <ondula/dsl.hpp>\n// caf\xE9\n");
  CHECK(
      run_program({"lint", latin}).err ==
      "ondula: " + latin +
          ":2:7: equation file: the byte 0xE9 is no text in UTF-8; save the file as UTF-8\n    2 | // caf?\n"
          "      |       ^\n");
}

TEST_CASE("lint: an equation for some dimensions is no finding, and said; the ten examples are clean") {
  ONDULA_NEEDS_CLANG();
  std::size_t some = 0, files = 0;
  for (const auto& entry : std::filesystem::directory_iterator("docs/examples/equations")) {
    const Outcome outcome = run_program({"lint", entry.path().string()});
    CAPTURE(outcome.out);
    CHECK(outcome.status == 0);
    CHECK(outcome.out.ends_with(": nothing found\n"));
    if (outcome.out.starts_with("not for all dimensions: equation ")) ++some;
    ++files;
  }
  CHECK(files == 10);
  CHECK(some == 5);
}

TEST_CASE("lint: every load of a file warns of what the linter finds, once") {
  ONDULA_NEEDS_CLANG();
  Workshop shop;
  std::ofstream(shop.folder() / "mine.cpp") << equation_text("  auto spare = 2.0 * u;\n");
  shop.job["equation"] = "mine.cpp";
  for (int round = 0; round < 2; ++round) {
    const Outcome estimate = shop.command("estimate");
    CHECK(estimate.status == 0);
    const std::string said = "spare is computed and never read: use it, or drop it [unused-variable]";
    const std::size_t first = estimate.err.find(said);
    CHECK(first != std::string::npos);
    CHECK(estimate.err.find(said, first + 1) == std::string::npos);
  }
}

}  // namespace
}  // namespace ondula::test
