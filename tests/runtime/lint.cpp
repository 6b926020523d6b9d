// The linter: what it finds, where, in which words, and how it mends it.
// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "runtime/lint/edits.hpp"
#include "tests/runtime/jit/support.hpp"
#include "tests/runtime/lint_support.hpp"

namespace ondula::test {
namespace {

using Lines = std::vector<std::string>;

/// The lines of a text that differ, as the second has them.
Lines changed_lines(const std::string& before, const std::string& after) {
  Lines changed;
  std::size_t a = 0, b = 0;
  while (a < before.size() && b < after.size()) {
    const std::string x = before.substr(a, before.find('\n', a) - a),
                      y = after.substr(b, after.find('\n', b) - b);
    if (x != y) changed.push_back(y);
    a += x.size() + 1;
    b += y.size() + 1;
  }
  return changed;
}

TEST_CASE("F13: the linter tells of slips in numbers, each with its place, its words and its fix") {
  ONDULA_NEEDS_CLANG();
  const AuthorsFolder folder;
  const std::string text = equation_text(
      "  int n = 3;\n"
      "  float c = 0.1;\n"
      "  auto half = 1/2;\n"
      "  double third = n/3;\n"
      "  int whole = 2.5;\n"
      "  u = 1/2 * u + 0.1f*c * u + (n + 1)/2 * u;\n"
      "  u = (2 ^ 2)*half * u + 7/n * third * u + (n^3) * whole * u;\n"
      "  u = 6/2 * u + (n - n/2) * u;\n");
  const EquationExamination found = folder.examine(text);
  CHECK(found.compiled);
  const Lines expected = {
      "6:9: c is a float, which keeps 7 digits, and a coefficient has 16: declare it double [narrowing]",
      "7:15: 1/2 divides integers and gives 0: write 1.0/2 [integer-division]",
      "8:18: n/3 divides integers and drops what remains: write n/3.0 [integer-division]",
      "9:15: 2.5 loses its fraction, since a whole number is wanted here: use a double, or static_cast where "
      "that is meant "
      "[narrowing]",
      "10:7: 1/2 divides integers and gives 0: write 1.0/2 [integer-division]",
      "10:17: 0.1f keeps 7 digits, a coefficient 16: write 0.1 [narrowing]",
      "10:30: (n + 1)/2 divides integers and drops what remains: write (n + 1)/2.0 [integer-division]",
      "11:10: ^ is C++'s exclusive or, not a power: write sq(2) [power]",
      "11:26: 7/n divides integers and drops what remains: write 7.0/n [integer-division]",
      "11:46: ^ is C++'s exclusive or, not a power: write n*sq(n) [power]",
      "12:22: n/2 divides integers and drops what remains: write n/2.0 [integer-division]"};
  CHECK(told(found.findings) == expected);
  const lint::Fixed fixed = lint::fixed(folder.path("mine.cpp"), text, found.findings);
  CHECK(fixed.applied.size() == 9);
  CHECK(changed_lines(text, fixed.text) ==
        Lines{"  double c = 0.1;", "  auto half = 1.0/2;", "  double third = n/3.0;",
              "  u = 1.0/2 * u + 0.1*c * u + (n + 1)/2.0 * u;",
              "  u = (sq(2))*half * u + 7.0/n * third * u + (n^3) * whole * u;",
              "  u = 6/2 * u + (n - n/2.0) * u;"});
}

TEST_CASE("F13: the linter tells of what is declared in vain, and of evolutions dropped") {
  ONDULA_NEEDS_CLANG();
  const AuthorsFolder folder;
  const std::string text = equation_text(
      "  auto rho = parameter(\"rho\", \"kg/m^3\");\n"
      "  parameter(\"mu\", \"Pa\");\n"
      "  auto w = scalar(\"w\", \"Pa\");\n"
      "  auto q = vector(\"q\", \"m/s\");\n"
      "  auto b = 1.0/vp;\n"
      "  auto twice = [&](auto f) { return f + f; };\n"
      "  u = u + w;\n"
      "  dt(u) = u;\n",
      "EQUATION(idle, \"states nothing\") { parameter(\"c\", \"m/s\"); }\n");
  const EquationExamination found = folder.examine(text);
  CHECK(told(found.findings) ==
        Lines{"2:1: equation idle states no evolution: write evolve(dt(...) = ...) [no-evolution]",
              "2:36: parameter c is never read: use it, or drop its declaration [unused-parameter]",
              "6:8: parameter rho is never read: use it, or drop its declaration [unused-parameter]",
              "7:3: parameter mu is never read: use it, or drop its declaration [unused-parameter]",
              "8:8: field w never evolves: write evolve(dt(w) = ...) or evolve(dtt(w) = ...) "
              "[field-never-evolves]",
              "9:8: field q is never read: state how it evolves, or drop its declaration [unused-field]",
              "10:8: b is computed and never read: use it, or drop it [unused-variable]",
              "11:8: twice is computed and never read: use it, or drop it [unused-variable]",
              "13:3: states an evolution and drops it: write evolve(dt(u) = u) [evolution-dropped]"});
  const lint::Fixed fixed = lint::fixed(folder.path("mine.cpp"), text, found.findings);
  CHECK(changed_lines(text, fixed.text) == Lines{"  evolve(dt(u) = u);"});
}

TEST_CASE(
    "F13: the linter tells of what outlives, or ends before, what uses it, and of what differs by run") {
  ONDULA_NEEDS_CLANG();
  const AuthorsFolder folder;
  const std::string before =
      "#include <cstdlib>\n#include <functional>\n#include <random>\n#include <string_view>\n"
      "using ondula::dsl::Tensor;\n"
      "static Tensor kept = 1.0;\n"
      "int count = 0;\n"
      "const Tensor& lost(const Tensor& t) {\n  Tensor b = t * 2.0;\n  return b;\n}\n"
      "std::function<Tensor()> later(Tensor t) { return [&t] { return t; }; }\n"
      "std::string_view named() { return std::string(\"u\"); }\n";
  const EquationExamination found =
      folder.examine(equation_text("  static std::vector<Tensor> all;\n"
                                   "  all.push_back(kept);\n"
                                   "  ++count;\n"
                                   "  u = std::rand() * u * static_cast<double>(time(nullptr));\n"
                                   "  std::random_device seed;\n"
                                   "  const char* view = std::string(\"u\").c_str();\n"
                                   "  u = lost(u) * static_cast<double>(named().size() + seed()) * "
                                   "later(u)() * (view != nullptr ? 1.0 : 2.0);\n",
                                   before));
  CHECK(
      told(found.findings) ==
      Lines{
          "7:15: kept outlives the equation's body, whose expressions it holds: declare it in the body, "
          "without static "
          "[static-tensor]",
          "11:10: reference to stack memory associated with local variable 'b' returned [dangling-reference]",
          "13:52: returns a function that refers to t, which ends here: capture it by value "
          "[dangling-reference]",
          "14:35: returning address of local temporary object [dangling-reference]",
          "18:30: all outlives the equation's body, whose expressions it holds: declare it in the body, "
          "without static "
          "[static-tensor]",
          "19:3: changes all, which outlives the body: the equation may then differ from one use to the next "
          "[global-state]",
          "20:5: changes count, which outlives the body: the equation may then differ from one use to the "
          "next "
          "[global-state]",
          "21:7: rand() differs from run to run: an equation must be the same in every process "
          "[not-reproducible]",
          "21:45: time() differs from run to run: an equation must be the same in every process "
          "[not-reproducible]",
          "22:22: std::random_device differs from run to run: an equation must be the same in every process "
          "[not-reproducible]",
          "23:22: object backing the pointer will be destroyed at the end of the full-expression "
          "[dangling-reference]"});
}

TEST_CASE("F13: the linter is silent where nothing is wrong") {
  ONDULA_NEEDS_CLANG();
  const AuthorsFolder folder;
  const std::string before =
      "#include <array>\n#include <cmath>\n#include <map>\n#include <numbers>\n"
      "using ondula::dsl::Tensor;\n"
      "static const std::map<std::string, double> table = {{\"two\", 2.0}};\n"
      "static const Tensor tenth = 0.1;\n"
      "constexpr unsigned mask(unsigned x) { return x ^ (x >> 3); }\n"
      "Tensor mean(const Tensor& a, const Tensor& b) { return 0.5 * (a + b); }\n"
      "double harmonic(int n) {\n  double sum = 0;\n  for (int i = 1; i <= n / 2; ++i) sum += 1.0 / i;\n  "
      "return sum;\n}\n";
  const EquationExamination found = folder.examine(equation_text(
      "  auto w = scalar(\"w\", \"Pa\");\n"
      "  const double pi = std::numbers::pi, root = std::sqrt(2.0);\n"
      "  std::array<double, 4 / 2> weights = {harmonic(4), static_cast<double>(mask(5))};\n"
      "  Tensor sum = 0;\n"
      "  for (std::size_t i = 0; i < weights.size(); ++i) sum = sum + weights[i] * u;\n"
      "  const auto advance = [&](const Tensor& f, const Tensor& r) { evolve(dtt(f) = r); };\n"
      "  advance(w, sq(vp) * laplacian(mean(sum, w)) * (6 / 2) * pi * root * table.at(\"two\") * tenth);\n"
      "  [[maybe_unused]] auto spare = 2.0 * vp;\n",
      before));
  CHECK(told(found.findings) == Lines{});
  CHECK(told(language_findings(found.load(), found).findings) == Lines{});
}

TEST_CASE("lint: a comment allows a finding, on its line or before it, and one that allows nothing is told") {
  ONDULA_NEEDS_CLANG();
  const AuthorsFolder folder;
  const EquationExamination found =
      folder.examine(equation_text("  auto half = 1/2;  // ondula: allow(integer-division)\n"
                                   "  // ondula: allow(integer-division, narrowing)\n"
                                   "  u = half * u + 3/2 * 0.1f * u;\n"
                                   "  u = u + 5/2 * u;\n"
                                   "  // ondula: allow(integer-divison)\n"
                                   "  u = u + 7/2 * u;  // ondula: allow(power)\n"));
  CHECK(
      told(found.findings) ==
      Lines{"8:11: 5/2 divides integers and gives 2: write 5.0/2 [integer-division]",
            "10:11: 7/2 divides integers and gives 3: write 7.0/2 [integer-division]",
            "9:20: allows integer-divison, and nothing of that name is found here: drop the comment "
            "[unused-allow]",
            "10:38: allows power, and nothing of that name is found here: drop the comment [unused-allow]"});
}

TEST_CASE("lint: a load warns, the same from the cache, and leaves to the language what it refuses anyway") {
  ONDULA_NEEDS_CLANG();
  const AuthorsFolder folder;
  const std::string path =
      folder.write("mine.cpp", equation_text("  auto rho = parameter(\"rho\", \"kg/m^3\");\n"
                                             "  u = 1/2 * u;\n"));
  Lines warnings;
  EquationFileOptions options = folder.options(true);
  options.log = [&](const std::string& text) { warnings.push_back(text); };
  for (int round = 0; round < 2; ++round) CHECK(load_equations(path, options).size() == 1);
  REQUIRE(warnings.size() == 2);
  CHECK(warnings[0] == path +
                           ":6:7: warning: 1/2 divides integers and gives 0: write 1.0/2 [integer-division]\n"
                           "    6 |   u = 1/2 * u;\n"
                           "      |       ^~~\n"
                           "  fix |   u = 1.0/2 * u;\n");
  CHECK(warnings[1] == warnings[0]);
  // The second came without LLVM: what the first load made is whole.
  CHECK(told(examine_equations(path, options).findings).size() == 2);
}

TEST_CASE(
    "lint: an included file of the author's is looked at, with its name, and macros where they are written") {
  ONDULA_NEEDS_CLANG();
  const AuthorsFolder folder;
  folder.write("part.hpp", "inline double part(int n) { return n/2; }\n#define SHARE 1/2\n");
  const EquationExamination found =
      folder.examine(equation_text("  u = part(3) * u;\n  u = SHARE * u;\n", "#include \"part.hpp\"\n"));
  REQUIRE(found.findings.size() == 2);
  CHECK(found.findings[0].file == folder.path("mine.cpp"));
  CHECK(told({found.findings[0]}) == Lines{"7:7: SHARE divides integers and gives 0: write one of the two "
                                           "with a point, 1.0 for 1 [integer-division]"});
  CHECK(found.findings[1].file == folder.path("part.hpp"));
  CHECK(told({found.findings[1]}) ==
        Lines{"1:36: n/2 divides integers and drops what remains: write n/2.0 [integer-division]"});
  CHECK(found.findings[1].line_text == "inline double part(int n) { return n/2; }");
}

}  // namespace
}  // namespace ondula::test
