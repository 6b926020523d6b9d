// Generated host text: literals, determinism, and that nothing of this machine is in it.
// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <regex>
#include <thread>

#include "compiler/emit/expression.hpp"
#include "compiler/emit/host_text.hpp"
#include "compiler/ir/evaluate.hpp"
#include "compiler/passes/pipeline.hpp"
#include "equations/equations.hpp"
#include "tests/runtime/jit/support.hpp"

namespace ondula::test {

EQUATION(tenth, "a coefficient that no float holds") {
  auto vp = parameter("vp", "m/s", positive);
  auto u = scalar("u", "Pa");
  evolve(dtt(u) = sq(vp) * 0.1 * laplacian(u) + source(u));
}

namespace {

std::string text_of(const EquationDefinition& equation, int dims, int order, emit::Real real) {
  return emit::host_text(passes::compile(equation, {default_axes(dims), order, false, false}).kernels, real);
}

/// Everything below the comments: code only.
std::string code(const std::string& text) { return std::regex_replace(text, std::regex("//[^\n]*"), ""); }

/// All equations, dimensions and both types, one after the other.
std::string all_texts() {
  std::string all;
  for (const EquationDefinition& equation : equations::all()) {
    for (int dims = 1; dims <= 3; ++dims) {
      for (const emit::Real real : {emit::Real::float32, emit::Real::float64})
        all += text_of(equation, dims, 8, real);
    }
  }
  return all;
}

std::size_t hits(const std::string& text, const std::string& pattern) {
  const std::regex expression(pattern);
  return static_cast<std::size_t>(
      std::distance(std::sregex_iterator(text.begin(), text.end(), expression), std::sregex_iterator()));
}

}  // namespace

TEST_CASE("F3: float64 text holds no float and float32 text no double") {
  for (const EquationDefinition& equation : {equations::acoustic(), equations::elastic(), tenth()}) {
    CAPTURE(equation.name());
    const std::string doubles = code(text_of(equation, 2, 8, emit::Real::float64));
    CHECK(hits(doubles, R"(\bfloat\b)") == 0);
    CHECK(hits(doubles, R"([0-9.]f\b)") == 0);
    CHECK(hits(doubles, "__builtin_fmaf") == 0);
    CHECK(hits(doubles, R"(\b__builtin_fma\b)") == 1);
    const std::string floats = code(text_of(equation, 2, 8, emit::Real::float32));
    CHECK(hits(floats, R"(\bdouble\b)") == 0);
    CHECK(hits(floats, R"([^\w.][0-9]+\.[0-9]+(e[+-]?[0-9]+)?(?![0-9f]))") == 0);
    CHECK(hits(floats, R"(\b__builtin_fmaf\b)") == 1);
  }
}

TEST_CASE("F3: a literal reads back to the very number in both types") {
  for (const double value : {0.1, 1.0 / 3, 1e-30, 123456789.123, 3.0, 6.02e23, -0.25}) {
    const std::string wide = emit::literal(value, emit::Real::float64);
    CAPTURE(wide);
    CHECK(std::stod(wide) == value);
    CHECK(wide.find_first_of(".e") != std::string::npos);
    CHECK(wide.back() != 'f');
    const std::string narrow = emit::literal(value, emit::Real::float32);
    CHECK(std::stof(narrow) == static_cast<float>(value));
    CHECK(narrow.back() == 'f');
  }
  CHECK(emit::literal(ir::Number::ratio(-1, 560), emit::Real::float64) == "-0.0017857142857142857");
}

TEST_CASE("F3: 0.1 stays the double it is, up to the coefficient it ends in") {
  const ir::Program program = passes::compile(tenth(), {{"z"}, 4, false, false}).kernels.program;
  REQUIRE(program.coefficients.size() == 1);
  const auto vp = [](const std::string&) {
    static const double one = 1;
    return &one;
  };
  std::vector<double> value;
  ir::nodal_values(program.coefficients[0].definition, {{"dt", 1}}, vp, 1, value);
  CHECK(value == std::vector<double>{0.1});
}

TEST_CASE("F6: twenty processes write the same bytes") {
  const TemporaryDirectory directory;
  const std::string expected = all_texts();
  for (int i = 0; i < 20; ++i) {
    const auto path = directory.path() / fmt::format("text{}", i);
    REQUIRE(in_child([&] {
      ::setenv("ONDULA_F6_NOISE", std::string(static_cast<std::size_t>(i) * 37, 'x').c_str(), 1);
      const std::unique_ptr<char[]> shifted(new char[static_cast<std::size_t>(i + 1) * 4099]);
      if (::chdir(i % 2 == 0 ? "/" : directory.path().c_str()) != 0) return false;
      write_bytes(path, all_texts());
      return shifted != nullptr;
    }));
    CHECK(read_bytes(path) == expected);
  }
}

TEST_CASE("F6, F10: sixteen threads at once write the bytes of one") {
  const std::string expected = all_texts();
  std::vector<std::string> texts(16);
  std::vector<std::thread> threads;
  for (std::string& text : texts) threads.emplace_back([&text] { text = all_texts(); });
  for (std::thread& thread : threads) thread.join();
  for (const std::string& text : texts) CHECK(text == expected);
}

TEST_CASE("F6: the text holds no path, no date and no address") {
  const std::string text = all_texts();
  CHECK(text.find(ONDULA_TESTS_DIR) == std::string::npos);
  CHECK(hits(text, R"([\w.]+/(equations|tests)/)") == 0);
  CHECK(hits(text, "0x[0-9a-f]{6,}") == 0);
  CHECK(hits(text, "20[2-9][0-9]-[0-9][0-9]-[0-9][0-9]") == 0);
}

TEST_CASE("emit: the author's file and line, names and equation stand in the text") {
  const std::string text = text_of(equations::elastic(), 2, 4, emit::Real::float32);
  CHECK(text.starts_with("// elastic, forward, axes z x, order 4, float32.\n// Isotropic velocity-stress"));
  CHECK(hits(text, R"(// elastic\.cpp:[0-9]+: v\.z)") >= 1);
  CHECK(hits(text, R"(real\* __restrict s_zx)") >= 1);
  CHECK(hits(text, "// c[0-9]+ = rho\n") == 1);
  CHECK(hits(text, "// w[0-9]+ = ") >= 1);
}

TEST_CASE("emit: grid, step and spacing are arguments, so the text does not depend on them") {
  const std::string text = code(text_of(equations::acoustic(), 3, 8, emit::Real::float32));
  CHECK(hits(text, R"(\bdt\b)") == 0);
  CHECK(hits(text, R"(\bh_[zyx]\b)") == 0);
}

TEST_CASE("B1, B4: every index of the text is 64 bits wide") {
  const std::string text = code(all_texts());
  CHECK(hits(text, "using index = long long;") == 18);
  // Other integers are the prelude's numbers and masks of a vector's lanes: eight words with `long long`'s
  // two in each of nine float32 texts, nine in float64 ones.
  CHECK(hits(text, R"(\b(int|unsigned|short|long)\b)") == (8 + 9) * 9);
  CHECK(hits(text, R"(for \((?!index ))") == 0);
}

}  // namespace ondula::test
