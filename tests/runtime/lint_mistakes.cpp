// A corpus of wrong equation files: each is answered by one sentence at the author's line, and by its status.
// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>

#include "compiler/error.hpp"
#include "compiler/passes/pipeline.hpp"
#include "tests/runtime/jit/support.hpp"
#include "tests/runtime/lint_support.hpp"

namespace ondula::test {
namespace {

/// A line of an equation's body that C++ rejects, and what is said of it.
struct WrongLine {
  std::string line, said;
};

constexpr std::size_t most_errors = 3;
constexpr std::size_t first_line = 5;

/// As many to a file as are told at once: each is told with its own line.
void check_lines(const AuthorsFolder& folder, const std::string& before,
                 const std::vector<WrongLine>& wrong) {
  const auto added = static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n'));
  for (std::size_t k = 0; k < wrong.size(); k += most_errors) {
    std::string lines;
    std::vector<std::string> expected;
    for (std::size_t j = k; j < std::min(k + most_errors, wrong.size()); ++j) {
      lines += "  " + wrong[j].line + "\n";
      expected.push_back(fmt::format("{}:{}", first_line + added + j - k, wrong[j].said));
    }
    const EquationExamination found = folder.examine(equation_text(lines, before));
    CHECK_FALSE(found.compiled);
    CHECK(fmt::format("{}", fmt::join(told(found.findings), "\n")) ==
          fmt::format("{}", fmt::join(expected, "\n")));
    for (const lint::Finding& finding : found.findings) {
      CHECK(finding.error);
      CHECK(finding.file == folder.path("mine.cpp"));
      CHECK(finding.message.find("template") == std::string::npos);
    }
  }
}

TEST_CASE("wrong equation files, a corpus: lines that C++ rejects") {
  ONDULA_NEEDS_CLANG();
  const AuthorsFolder folder;
  check_lines(
      folder, "",
      {{"auto a = vp", "14: expected ';' at end of declaration [compiler]"},
       {"auto b = laplacan(u);", "12: laplacan is not declared; did you mean laplacian? [name]"},
       {"auto c = rho * u;", "12: rho is not declared [name]"},
       {"evolve(dt(\"u\") = laplacian(u));", "10: dt() takes an expression, found \"u\" [arguments]"},
       {"auto d = grad(\"u\");", "12: grad() takes an expression, found \"u\" [arguments]"},
       {"auto e = laplacian();", "12: laplacian() needs an argument, an expression with a field [arguments]"},
       {"auto f = laplacian(u, 2);", "12: laplacian() takes 1 argument, found 2 [arguments]"},
       {"auto g = parameter(3, \"m/s\");", "22: a text is needed here, found a number [types]"},
       {"auto h = parameter(\"b\");", "25: parameter(): expected at least 2, have 1 [arguments]"},
       {"auto i = parameter(\"b\", \"m\", \"positive\");",
        "32: any, nonnegative or positive is needed here, found a text [types]"},
       {"auto j = parameter(vp, \"m\");", "22: a text is needed here, found an expression [types]"},
       {"evolve(dt(u) == laplacian(u));",
        "10: == compares; an evolution is stated by =: write evolve(dt(u) = ...) [equals]"},
       {"evolve(u = laplacian(u));",
        "10: evolve() takes dt(...) = ... or dtt(...) = ..., found an assignment to u [evolve]"},
       {"evolve(laplacian(u));",
        "10: evolve() takes dt(...) = ... or dtt(...) = ..., found an expression [evolve]"},
       {"evolve(dt(u));",
        "10: evolve() takes dt(...) = ... or dtt(...) = ..., found no right side; write evolve(dt(u) = ...) "
        "[evolve]"},
       {"evolve();", "10: evolve(): expected 1 argument [arguments]"},
       {"evolve(dttt(u) = u);", "10: dttt is not declared; did you mean dtt? [name]"},
       {"evolve(dtt(u) + dt(u) = vp);",
        "10: evolve() takes dt(...) = ... or dtt(...) = ..., found an assignment to dt(u) [evolve]"},
       {"evolve(vp * dtt(u) = u);",
        "10: evolve() takes dt(...) = ... or dtt(...) = ..., found an assignment to dtt(u) [evolve]"},
       {"auto k = \"vp\" * u;", "17: * cannot take a text and an expression [operands]"},
       {"auto l = u^2;", "13: ^ is C++'s exclusive or, not a power: write sq(u) [power]"},
       {"auto m = 2 * vp^2 * u;", "18: ^ is C++'s exclusive or, not a power: write sq(vp) [power]"},
       {"auto n = vp**2;", "15: ** is no operator of C++: write sq(vp) [power]"},
       {"auto p = (u + vp)^-1;", "20: ^ is C++'s exclusive or, not a power: write 1/(u + vp) [power]"},
       {"auto q = vp > 2 ? vp : u;",
        "12: a comparison of parameters is not known yet: write where(...) in place of if and ?: [operands]"},
       {"if (vp) return;",
        "7: an expression is neither true nor false: no if and no ?: can ask for its value [operands]"},
       {"auto r = u[0];", "14: components are named by their axes: write v[\"x\"], s[\"xz\"] [operands]"},
       {"auto s = u(1);",
        "12: an expression is no function: is a * missing before the parenthesis? [operands]"},
       {"u += vp;", "5: += is not for expressions: write u = u + ... [operands]"},
       {"double t = vp;", "10: a number is needed here, found an expression [types]"},
       {"std::size_t w = 2; auto x = w * u;",
        "31: a number of type std::size_t may become an int or a double here: write double(...) around it "
        "[types]"},
       {"auto u = vp;", "8: redefinition of 'u' (first at mine.cpp:4) [compiler]"},
       {"Auto y = u;", "3: unknown type name 'Auto' [compiler]"},
       {"std::map<int, int> z;", "8: std::map needs #include <map> [include]"},
       {"auto aa = M_PI * u;",
        "13: M_PI is no name of C++: write std::numbers::pi, with #include <numbers> [name]"},
       {"return u;", "3: the body of an EQUATION returns nothing: state evolve(dt(...) = ...) [return]"},
       {"auto ab = std::sqrt(vp);",
        "13: std::sqrt() of a number needs #include <cmath>; of an expression write sqrt(vp), without std:: "
        "[std-math]"},
       {"auto ac = (u + vp;", "20: expected ')' to match this '(' at 6:13 [compiler]"}});
}

TEST_CASE("wrong equation files, a corpus: mathematics of std, and what headers reject") {
  ONDULA_NEEDS_CLANG();
  const AuthorsFolder folder;
  check_lines(folder, "#include <algorithm>\n#include <cmath>\n#include <iostream>\n",
              {{"auto a = std::sqrt(vp);",
                "12: std::sqrt() takes numbers, not expressions: write sqrt(vp), without std:: [std-math]"},
               {"auto b = std::pow(vp, 2);",
                "12: std::pow() takes numbers, not expressions: write sq(vp) [std-math]"},
               {"auto c = std::abs(vp);",
                "12: std::abs() takes numbers, not expressions: write abs(vp), without std:: [std-math]"},
               {"auto d = std::max(vp, vp);",
                "17: std::max() takes numbers, not expressions: write max(...), without std:: [std-math]"},
               {"auto e = std::tanh(vp);",
                "12: std::tanh() takes numbers, not expressions: write tanh(vp), without std:: [std-math]"},
               {"auto f = std::fabs(vp);",
                "12: std::fabs() takes numbers, not expressions: write abs(vp), without std:: [std-math]"},
               {"std::cout << vp;", "13: << cannot take an ostream and an expression [operands]"}});
  const EquationExamination sorted = folder.examine(equation_text(
      "  std::vector<ondula::dsl::Tensor> all = {u, vp};\n  std::sort(all.begin(), all.end());\n",
      "#include <algorithm>\n"));
  REQUIRE(sorted.findings.size() == 1);
  CHECK(told(sorted.findings)[0] == "7:8: a number is needed here, found a comparison [types]");
}

/// A whole file, the first line of what is said, and the program's status.
struct WrongFile {
  std::string name, text, said;
  int status = 3;
};

std::string first_line_of(const std::string& text) { return text.substr(0, text.find('\n')); }

/// As the program answers: the first line that is about the file, and the status.
std::pair<std::string, int> answer(const std::string& path, const EquationFileOptions& options) {
  try {
    for (const EquationDefinition& definition : load_equations(path, options))
      passes::compile(definition, {.axes = {"z", "x"}});
  } catch (const CompileError& error) {
    return {first_line_of(error.log()), 3};
  } catch (const UserError& error) {
    return {first_line_of(error.what()), 2};
  }
  return {"nothing", 0};
}

void check_files(const std::vector<WrongFile>& wrong) {
  const AuthorsFolder folder;
  for (const WrongFile& file : wrong) {
    const std::string path = folder.write(file.name, file.text);
    const auto [said, status] = answer(path, folder.options());
    std::string expected = file.said;
    if (const std::size_t at = expected.find('%'); at != std::string::npos) expected.replace(at, 1, path);
    CHECK(said == expected);
    CHECK(status == file.status);
  }
}

const std::string include = "#include <ondula/dsl.hpp>\n";
const std::string evolution =
    "  auto u = scalar(\"u\", \"Pa\");\n  evolve(dt(u) = -1.0 / parameter(\"t\", \"s\") * u);\n}\n";

TEST_CASE("wrong equation files, a corpus: whole files that C++ rejects") {
  ONDULA_NEEDS_CLANG();
  check_files({
      {"unknown.cpp", "EQUATION(mine, \"x\") {\n" + evolution,
       "%:1:1: error: EQUATION is not known: begin the file with #include <ondula/dsl.hpp> [include]"},
      {"twice.cpp",
       include + "EQUATION(mine, \"x\") {\n" + evolution + "EQUATION(mine, \"y\") {\n" + evolution,
       "%:6:1: error: equation mine is stated twice, first at line 2: rename one [equation]"},
      {"one.cpp", include + "EQUATION(mine) {\n" + evolution,
       "%:2:1: error: EQUATION takes a name and a description: EQUATION(mine, \"what it states\") { ... } "
       "[equation]"},
      {"dash.cpp", include + "EQUATION(my-own, \"x\") {\n" + evolution,
       "%:2:1: error: EQUATION takes a name and a description: EQUATION(mine, \"what it states\") { ... } "
       "[equation]"},
      {"quoted.cpp", include + "EQUATION(\"mine\", \"x\") {\n" + evolution,
       "%:2:1: error: EQUATION takes a name and a description: EQUATION(mine, \"what it states\") { ... } "
       "[equation]"},
      {"main.cpp", include + "EQUATION(main, \"x\") {\n" + evolution,
       "%:2:1: error: main cannot be an equation's name in C++: choose another [equation]"},
      {"open.cpp", include + "EQUATION(mine, \"x\") {\n  if (true) {\n" + evolution,
       "%:6:2: error: expected '}' to match this '{' at 2:21"},
      {"absent.cpp", "#include \"absent.hpp\"\n" + include,
       "%:1:10: error: there is no file absent.hpp: \"...\" is looked for beside this file, <...> among the "
       "system's "
       "headers [include]"},
      {"header.cpp", "#include <ondula/dls.hpp>\nEQUATION(mine, \"x\") {\n" + evolution,
       "%:1:10: error: there is no file ondula/dls.hpp: the language's header is <ondula/dsl.hpp> [include]"},
      {"deep.cpp",
       include + "template <int n>\nstruct Deep {\n  static constexpr int value = Deep<n + 1>::value;\n};\n"
                 "constexpr int bottom = Deep<0>::value;\n",
       "%:4:32: error: recursive template instantiation exceeded maximum depth of 1024"},
      {"calls.cpp", include + "constexpr int f(int n) { return f(n + 1); }\nconstexpr int bottom = f(0);\n",
       "%:3:15: error: constexpr variable 'bottom' must be initialized by a constant expression: constexpr "
       "evaluation "
       "exceeded maximum depth of 512 calls"},
      {"python.cpp", "import numpy as np\nu = 3\n", "%:1:8: error: module 'numpy' not found"},
      {"lines.cpp",
       "#include <ondula/dsl.hpp>\r\nEQUATION(mine, \"x\") {\r\n  auto u = scalr(\"u\", \"Pa\");\r\n}\r\n",
       "%:3:12: error: scalr is not declared; did you mean scalar? [name]"},
      {"mark.cpp",
       "\xEF\xBB\xBF" + include + "EQUATION(mine, \"x\") {\n  auto u = scalr(\"u\", \"Pa\");\n}\n",
       "%:3:12: error: scalr is not declared; did you mean scalar? [name]"},
      {"outside.cpp", include + "auto vp = parameter(\"vp\", \"m/s\");\n",
       "%:2:11: error: parameter() is known in the body of an EQUATION only [name]"},
  });
}

TEST_CASE("wrong equation files, a corpus: files that cannot be read, state nothing, or fail when they run") {
  ONDULA_NEEDS_CLANG();
  check_files({
      {"latin.cpp", include + "// caf\xE9\n",
       "%:2:7: equation file: the byte 0xE9 is no text in UTF-8; save the file as UTF-8", 2},
      {"wide.cpp", std::string("\xFF\xFE#\0i\0", 6),
       "%:1:1: equation file: the byte 0xFF is no text in UTF-8; save the file as UTF-8", 2},
      {"zero.cpp", include + std::string("// \0\n", 5),
       "%:2:4: equation file: the byte 0x00 is no text in UTF-8; save the file as UTF-8", 2},
      {"huge.cpp", std::string((std::size_t{16} << 20) + 1, '\n'),
       "equation file %: it has more than 16 MiB; is it a model?", 2},
      {"void.cpp", "",
       "equation file %: it states no equation; write EQUATION(name, \"description\") { ... }", 2},
      {"comment.cpp", "// only this\n",
       "equation file %: it states no equation; write EQUATION(name, \"description\") { ... }", 2},
      {"throws.cpp",
       include +
           "#include <stdexcept>\nEQUATION(mine, \"x\") {\n  throw std::runtime_error(\"so it goes\");\n}\n",
       "%: equation mine: its text threw: so it goes", 2},
      {"number.cpp", include + "EQUATION(mine, \"x\") {\n  throw 3;\n}\n",
       "%: equation mine: its text threw what is no std::exception", 2},
      {"idle.cpp", include + "EQUATION(mine, \"x\") {\n  scalar(\"u\", \"Pa\");\n}\n",
       "%:3:3: equation mine: nothing evolves; state evolve(dt(...) = ...)", 2},
      {"empty.cpp", include + "EQUATION(mine, \"x\") {\n}\n",
       "%: equation mine: nothing evolves; state evolve(dt(...) = ...)", 2},
  });
  const AuthorsFolder folder;
  CHECK(answer(folder.path(""), folder.options()) ==
        std::pair<std::string, int>("equation file " + folder.path("") + ": it is a folder", 2));
  CHECK(answer(folder.path("nowhere.cpp"), folder.options()) ==
        std::pair<std::string, int>("equation file " + folder.path("nowhere.cpp") + ": there is no such file",
                                    2));
}

}  // namespace
}  // namespace ondula::test
