// Equations from C++ files: loaded, kept, compiled anew, refused.
// SPDX-License-Identifier: MIT
#include "runtime/equation_file.hpp"

#include <doctest/doctest.h>

#include <fstream>

#include "compiler/emit/host_text.hpp"
#include "compiler/error.hpp"
#include "compiler/passes/pipeline.hpp"
#include "equations/equations.hpp"
#include "tests/runtime/jit/support.hpp"
#include "tests/support/temporary_directory.hpp"
#include "tests/tools/program.hpp"

namespace ondula::test {
namespace {

/// A folder with an author's files, and a cache of its own.
class Desk {
 public:
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(directory_.path() / name) << text;
    return (directory_.path() / name).string();
  }
  EquationFileOptions options() const {
    EquationFileOptions options;
    options.cache.directory = (directory_.path() / "cache").string();
    return options;
  }
  /// An equation of one line, `right` its right side.
  std::string equation(const std::string& name, const std::string& right,
                       const std::string& before = "") const {
    return write(name, "#include <ondula/dsl.hpp>\n" + before +
                           "EQUATION(mine, \"of a test\") {\n"
                           "  auto vp = parameter(\"vp\", \"m/s\", positive);\n"
                           "  auto u = scalar(\"u\", \"Pa\");\n"
                           "  evolve(dtt(u) = " +
                           right + ");\n}\n");
  }

 private:
  TemporaryDirectory directory_;
};

constexpr const char* waves = "sq(vp) * (laplacian(u) + source(u))";

std::string program_of(const EquationDefinition& definition) {
  return ir::dump(passes::compile(definition, {.axes = {"z", "x"}}).physical);
}

template <class E>
std::string message(const std::string& path, const EquationFileOptions& options) {
  try {
    program_of(load_equation(path, options));
  } catch (const E& error) {
    return error.what();
  }
  return "nothing was thrown";
}

TEST_CASE("equation files: the file's equation is the one linked in, by any load") {
  ONDULA_NEEDS_CLANG();
  const Desk desk;
  const std::string path =
      desk.write("own.cpp",
                 "#include <ondula/dsl.hpp>\n"
                 "EQUATION(acoustic, \"Constant density: (1/vp^2) u_tt = laplacian(u) + s\") {\n"
                 "  auto vp = parameter(\"vp\", \"m/s\", positive);\n"
                 "  auto u = scalar(\"u\", \"Pa\");\n"
                 "  evolve(dtt(u) = sq(vp) * (laplacian(u) + source(u)));\n}\n");
  const std::string linked = program_of(equations::acoustic());
  for (int round = 0; round < 3; ++round) {
    const EquationDefinition loaded = load_equation(path, desk.options());
    CHECK(loaded.name() == "acoustic");
    CHECK(loaded.file() == path);
    CHECK(program_of(loaded) == linked);
  }
}

TEST_CASE("equation files: static objects live, exceptions are caught, the text outlives its first holder") {
  ONDULA_NEEDS_CLANG();
  const Desk desk;
  const std::string path =
      desk.equation("statics.cpp", "number() * sq(vp) * (laplacian(u) + source(u))",
                    "#include <map>\n#include <stdexcept>\n#include <string>\n"
                    "static const std::map<std::string, double> table = {{\"two\", 2.0}};\n"
                    "double number() {\n  try {\n    return table.at(\"three\");\n"
                    "  } catch (const std::out_of_range&) {\n    return table.at(\"two\");\n  }\n}\n");
  std::vector<EquationDefinition> held;
  {
    const std::vector<EquationDefinition> all = load_equations(path, desk.options());
    REQUIRE(all.size() == 1);
    held.push_back(all.front());
  }
  CHECK(program_of(held.front()).find("2*") != std::string::npos);
  CHECK(program_of(held.front()) == program_of(load_equation(path, desk.options())));
}

TEST_CASE("C8: an edited file that the equation includes: compiled anew, a new result") {
  ONDULA_NEEDS_CLANG();
  const Desk desk;
  desk.write("factor.hpp", "constexpr double factor = 3;\n");
  const std::string path = desk.equation("included.cpp", "factor * sq(vp) * (laplacian(u) + source(u))",
                                         "#include \"factor.hpp\"\n");
  const std::string three = program_of(load_equation(path, desk.options()));
  CHECK(three == program_of(load_equation(path, desk.options())));
  desk.write("factor.hpp", "constexpr double factor = 5;\n");
  const std::string five = program_of(load_equation(path, desk.options()));
  CHECK(three.find("3*") != std::string::npos);
  CHECK(five.find("5*") != std::string::npos);
  CHECK(five.find("3*") == std::string::npos);
}

TEST_CASE("equation files: a mistake is shown with the author's line") {
  ONDULA_NEEDS_CLANG();
  const Desk desk;
  const std::string grammar = message<CompileError>(
      desk.write("grammar.cpp",
                 "#include <ondula/dsl.hpp>\nEQUATION(mine, \"x\") {\n  auto u = scalar(\"u\", \"Pa\")\n}\n"),
      desk.options());
  CHECK(grammar.find("grammar.cpp:3:29: error: expected ';'") != std::string::npos);
  CHECK(grammar.find("auto u = scalar(\"u\", \"Pa\")\n") != std::string::npos);
  const std::string units =
      message<UserError>(desk.equation("units.cpp", "sq(vp) * (laplacian(u) + vp)"), desk.options());
  CHECK(units.find("units.cpp:5:29: equation mine: adds [m/s] to") != std::string::npos);
  const std::string thrown = message<UserError>(
      desk.equation("thrown.cpp", "bad() * u",
                    "#include <stdexcept>\ndouble bad() { throw std::runtime_error(\"so it goes\"); }\n"),
      desk.options());
  CHECK(thrown.ends_with("/thrown.cpp: equation mine: its text threw: so it goes"));
}

TEST_CASE("equation files: what cannot be loaded is refused by name") {
  ONDULA_NEEDS_CLANG();
  const Desk desk;
  const auto refused = [&](const std::string& path) { return message<UserError>(path, desk.options()); };
  CHECK(
      refused(desk.equation("calls.cpp", std::string("elsewhere(2) * ") + waves, "double elsewhere(int);\n"))
          .find("calls.cpp: elsewhere(int) is declared and nowhere defined") != std::string::npos);
  CHECK(refused(desk.equation("starts.cpp", waves,
                              "#include <stdexcept>\nstatic const int never = [] {\n"
                              "  throw std::runtime_error(\"no start\");\n  return 1;\n}();\n"))
            .find("starts.cpp: a static initialiser threw: no start") != std::string::npos);
  CHECK(refused(desk.equation("threads.cpp", std::string("count++ * ") + waves,
                              "thread_local double count = 1;\n"))
            .find("threads.cpp: thread_local variables are not supported") != std::string::npos);
  CHECK(refused(desk.write("none.cpp", "#include <ondula/dsl.hpp>\nint nothing = 0;\n"))
            .find("none.cpp: it states no equation") != std::string::npos);
  CHECK(refused(desk.write("void.cpp", "")).find("void.cpp: it states no equation") != std::string::npos);
  CHECK(refused(desk.options().cache.directory).find("it is a folder") != std::string::npos);
  const std::string one = desk.equation("one.cpp", waves);
  CHECK(refused(one + ":other").find("states no equation \"other\"; there are: mine") != std::string::npos);
  CHECK(load_equation(one + ":mine", desk.options()).name() == "mine");
}

TEST_CASE("equation files: a job names one beside it, and runs to the records of the built-in equation") {
  ONDULA_NEEDS_CLANG();
  Workshop shop;
  REQUIRE(shop.run().status == 0);
  const std::vector<double> expected = shop.records().data;
  std::filesystem::remove_all(shop.out());
  std::ofstream(shop.folder() / "mine.cpp") << "#include <ondula/dsl.hpp>\nEQUATION(mine, \"of a test\") {\n"
                                               "  auto vp = parameter(\"vp\", \"m/s\", positive);\n"
                                               "  auto u = scalar(\"u\", \"Pa\");\n  evolve(dtt(u) = "
                                            << waves << ");\n}\n";
  shop.job["equation"] = "mine.cpp";
  const Outcome outcome = shop.run();
  CAPTURE(outcome.err);
  REQUIRE(outcome.status == 0);
  CHECK(shop.records().data == expected);
  std::ofstream(shop.folder() / "mine.cpp")
      << "#include <ondula/dsl.hpp>\nEQUATION(mine, \"of a test\") {\n"
         "  auto vp = parameter(\"vp\", \"m/s\", positive);\n"
         "  auto u = scalar(\"u\", \"Pa\");\n  evolve(dtt(u) = vp * u);\n}\n";
  const Outcome wrong = shop.run();
  CHECK(wrong.status == 2);
  CHECK(wrong.err.find("mine.cpp:5:") != std::string::npos);
  CHECK(wrong.err.find("    5 |   evolve(dtt(u) = vp * u);\n") != std::string::npos);
  CHECK(wrong.err.find("^\n") != std::string::npos);
}

}  // namespace
}  // namespace ondula::test
