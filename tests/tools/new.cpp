// `ondula new`: what it writes loads, lints clean and runs; what it refuses.
// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <fstream>

#include "compiler/passes/pipeline.hpp"
#include "equations/equations.hpp"
#include "tests/runtime/jit/support.hpp"
#include "tests/runtime/lint_support.hpp"
#include "tests/tools/program.hpp"

namespace ondula::test {
namespace {

/// While one lives, the process, and the programs it starts, work in a folder of their own.
class Elsewhere {
 public:
  Elsewhere() { std::filesystem::current_path(folder_.path()); }
  Elsewhere(const Elsewhere&) = delete;
  Elsewhere& operator=(const Elsewhere&) = delete;
  ~Elsewhere() { std::filesystem::current_path(before_); }
  std::filesystem::path folder() const { return folder_.path(); }

 private:
  std::filesystem::path before_ = std::filesystem::current_path();
  TemporaryDirectory folder_;
};

EquationFileOptions uncached() {
  EquationFileOptions options;
  options.cache.directory = "off";
  return options;
}

/// The equation's step in 2-D, without the name and the places of its text.
std::string step_of(const EquationDefinition& definition) {
  std::string text = ir::dump(passes::compile(definition, {.axes = {"z", "x"}}).physical);
  return text.substr(text.find('\n'));
}

void check_clean(const std::string& file) {
  const EquationExamination found = examine_equations(file, uncached());
  CHECK(told(found.findings) == std::vector<std::string>{});
  REQUIRE(found.compiled);
  CHECK(told(language_findings(found.load(), found).findings) == std::vector<std::string>{});
}

TEST_CASE("new: the commented start loads, lints clean, and runs as it stands") {
  ONDULA_NEEDS_CLANG();
  const Elsewhere here;
  const Outcome made = run_program({"new", "mine"});
  CHECK(made.status == 0);
  CHECK(made.err == "");
  for (const char* next : {"ondula lint mine.cpp", "ondula explain mine.cpp --dims 2",
                           "ondula check mine.cpp", "\"equation\": \"mine.cpp\""})
    CHECK(made.out.find(next) != std::string::npos);
  const std::string text = read_file(here.folder() / "mine.cpp");
  CHECK(text.find("EQUATION(mine, ") != std::string::npos);
  CHECK(text.find('@') == std::string::npos);
  check_clean("mine.cpp");
  CHECK(step_of(load_equation("mine.cpp", uncached())) == step_of(equations::acoustic_density()));
  const Outcome again = run_program({"new", "mine"});
  CHECK(again.status == 2);
  CHECK(again.err == "ondula: mine.cpp exists already; use --force to replace it, or name another output\n");
  std::ofstream("mine.cpp") << "other";
  CHECK(run_program({"new", "mine", "--force", "-q"}).out == "");
  CHECK(read_file(here.folder() / "mine.cpp") == text);
  nlohmann::ordered_json job = small_job();
  job["equation"] = "mine.cpp";
  job["models"]["rho"] = 1000;
  job["time"]["steps"] = 50;
  std::ofstream("job.json") << job.dump();
  const Outcome run = run_program({"run", "job.json"});
  CAPTURE(run.err);
  CHECK(run.status == 0);
}

TEST_CASE("new: every built-in equation starts a file that lints clean and states the same") {
  ONDULA_NEEDS_CLANG();
  const Elsewhere here;
  for (const EquationDefinition& built_in : equations::all()) {
    const std::string name = "my_" + built_in.name();
    CAPTURE(name);
    const Outcome made = run_program({"new", name, "--from", built_in.name(), "--json"});
    CHECK(made.status == 0);
    CHECK(nlohmann::json::parse(made.out) ==
          nlohmann::json{{"file", name + ".cpp"}, {"equation", name}, {"from", built_in.name()}});
    check_clean(name + ".cpp");
    const std::vector<EquationDefinition> loaded = load_equations(name + ".cpp", uncached());
    REQUIRE(loaded.size() == 1);
    CHECK(loaded[0].name() == name);
    CHECK(loaded[0].description() == built_in.description());
    CHECK(step_of(loaded[0]) == step_of(built_in));
    CHECK(read_file(name + ".cpp").find("namespace ondula::equations") == std::string::npos);
  }
}

TEST_CASE("new: from a file of one's own, with what it includes, one equation of several") {
  ONDULA_NEEDS_CLANG();
  const Elsewhere here;
  std::filesystem::create_directory("old");
  std::ofstream("old/part.hpp") << "constexpr double part = 3;\n";
  std::ofstream("old/two.cpp") << "#include \"part.hpp\"\n" + equation_text("  u = part * u;\n") +
                                      "// of the other\nEQUATION(other, \"} of a test\") {\n"
                                      "  auto w = scalar(\"w\", \"Pa\");  // }\n  evolve(dt(w) = -1.0 / "
                                      "parameter(\"t\", \"s\") * w);\n}\n";
  CHECK(run_program({"new", "first", "--from", "old/two.cpp:mine"}).status == 0);
  CHECK(read_file("first.cpp") ==
        "#include \"old/part.hpp\"\n#include <ondula/dsl.hpp>\nEQUATION(first, \"of a test\") {\n"
        "  auto vp = parameter(\"vp\", \"m/s\", positive);\n  auto u = scalar(\"u\", \"Pa\");\n"
        "  u = part * u;\n  evolve(dtt(u) = sq(vp) * (laplacian(u) + source(u)));\n}\n");
  CHECK(load_equation("first.cpp", uncached()).name() == "first");
  CHECK(run_program({"new", "second", "--from", "old/two.cpp:other"}).status == 0);
  CHECK(read_file("second.cpp").find("// of the other\nEQUATION(second, \"} of a test\") {") !=
        std::string::npos);
  CHECK(load_equation("second.cpp", uncached()).name() == "second");
  const Outcome which = run_program({"new", "third", "--from", "old/two.cpp"});
  CHECK(which.status == 2);
  CHECK(which.err.find("states 2 equations: name one") != std::string::npos);
}

TEST_CASE("new: names that are none, and nothing to start from") {
  const Elsewhere here;
  for (const char* name : {"2d", "my-own", "a/b", "mine.cpp", "_x", "x_", "x__y", ""}) {
    const Outcome refused = run_program({"new", name});
    CHECK(refused.status == 2);
    CHECK(
        refused.err ==
        "ondula: new: \"" + std::string(name) +
            "\" is no name: a letter, then letters, digits and single underscores (a-z, A-Z, 0-9); the file "
            "is called NAME.cpp\n");
  }
  CHECK(run_program({"new", "double"}).err ==
        "ondula: new: \"double\" is a word of C++'s own: choose another name\n");
  const Outcome unknown = run_program({"new", "mine", "--from", "acustic"});
  CHECK(unknown.status == 2);
  CHECK(unknown.err.find("new: --from: found \"acustic\". Did you mean \"acoustic\"?") != std::string::npos);
  CHECK(std::filesystem::is_empty(here.folder()));
}

}  // namespace
}  // namespace ondula::test
