// Tests that a kernel's arithmetic is the text's, whoever compiles it and however.
// SPDX-License-Identifier: MIT
#include <dlfcn.h>
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <xmmintrin.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "runtime/jit/host_compiler.hpp"
#include "tests/runtime/jit/support.hpp"

using namespace ondula;
using namespace ondula::test;

namespace {

/// One row of an eighth-order second derivative: paired taps, a balanced sum, a product that a contracting
/// compiler would fuse.
const char* const stencil_text =
    "extern \"C\" void row(float* __restrict next, const float* __restrict now, const float* __restrict k, "
    "long n) {\n"
    "  for (long i = 4; i < n - 4; ++i) {\n"
    "    const float p1 = now[i - 1] + now[i + 1], p2 = now[i - 2] + now[i + 2];\n"
    "    const float p3 = now[i - 3] + now[i + 3], p4 = now[i - 4] + now[i + 4];\n"
    "    const float far = __builtin_fmaf(p4, -1.0f / 560.0f, p3 * (8.0f / 315.0f));\n"
    "    const float near = __builtin_fmaf(p2, -0.2f, p1 * 1.6f);\n"
    "    const float sum = now[i] * -2.84722233f + (near + far);\n"
    "    next[i] = (2.0f * now[i] - next[i]) + k[i] * sum;\n"
    "  }\n"
    "}\n";

using Row = void (*)(float*, const float*, const float*, long);

std::vector<float> run_row(Row row, long n = 1003) {
  std::vector<float> next(n), now(n), k(n);
  unsigned state = 12345;
  const auto random = [&] {
    state = state * 1664525u + 1013904223u;
    return static_cast<float>(state >> 8) * 0x1p-24f - 0.5f;
  };
  for (long i = 0; i < n; ++i) {
    next[i] = random();
    now[i] = random() * (i % 17 == 0 ? 1e-30f : 1.0f);
    k[i] = random() * 0.1f;
  }
  for (int step = 0; step < 20; ++step) {
    row(next.data(), now.data(), k.data(), n);
    std::swap(next, now);
  }
  return now;
}

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

}  // namespace

TEST_CASE("host: g++ and the in-process Clang give the same bits on a stencil") {
  ONDULA_NEEDS_CLANG();
  if (std::system("g++ --version > /dev/null 2>&1") != 0) ONDULA_SKIP("no g++ here");
  const TemporaryDirectory directory;
  const std::string source = (directory.path() / "row.cpp").string(),
                    library = (directory.path() / "row.so").string();
  write_bytes(source, stencil_text);
  jit::HostCompiler compiler({.directory = "off"});
  const auto module = compiler.compile({stencil_text, "stencil", {}, ""});
  const std::vector<float> ours = run_row(reinterpret_cast<Row>(module->symbol("row")));
  for (const char* level : {"-O1", "-O2", "-O3"}) {
    const std::string command = fmt::format(
        "g++ -std=c++20 {} -march=native -ffp-contract=off -fPIC -shared -o {} {}", level, library, source);
    REQUIRE(std::system(command.c_str()) == 0);
    const std::unique_ptr<void, int (*)(void*)> handle(dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL),
                                                       dlclose);
    REQUIRE(handle);
    CHECK(same_bits(ours, run_row(reinterpret_cast<Row>(dlsym(handle.get(), "row")))));
  }
}

TEST_CASE("host: optimisation, vector width and CPU features change no bit") {
  ONDULA_NEEDS_CLANG();
  const auto bits = [](const std::vector<std::string>& options, const std::string& features) {
    jit::HostCompiler compiler({.directory = "off"}, {}, features);
    return run_row(
        reinterpret_cast<Row>(compiler.compile({stencil_text, "stencil", options, ""})->symbol("row")));
  };
  const std::vector<float> expected = bits({}, "");
  CHECK(same_bits(expected, bits({"-O0"}, "")));
  CHECK(same_bits(expected, bits({"-O2"}, "")));
  CHECK(same_bits(expected, bits({"-O3"}, "")));
  CHECK(same_bits(expected, bits({"-mprefer-vector-width=128"}, "")));
  CHECK(same_bits(expected, bits({}, "-avx512f")));
  CHECK(same_bits(expected, bits({}, "baseline")));
}

TEST_CASE("host: flushed denormals in the calling thread do not reach the compiler's constants") {
  ONDULA_NEEDS_CLANG();
  const char* text = "extern \"C\" float tiny() { return 1e-20f * 1e-20f; }\n";
  const unsigned before = _mm_getcsr();
  _mm_setcsr(before | 0x8040);  // flush to zero, denormals are zero
  jit::HostCompiler compiler({.directory = "off"});
  const auto module = compiler.compile({text, "tiny", {}, ""});
  const unsigned after = _mm_getcsr();
  _mm_setcsr(before);
  CHECK((after & 0x8040) == 0x8040);
  CHECK(reinterpret_cast<float (*)()>(module->symbol("tiny"))() == 1e-20f * 1e-20f);
}

TEST_CASE("host: infinities survive a division by zero") {
  ONDULA_NEEDS_CLANG();
  jit::HostCompiler compiler({.directory = "off"});
  const auto module = compiler.compile(
      {"extern \"C\" float average(float a, float b) { return 2.0f / (1.0f / a + 1.0f / b); }\n",
       "mean",
       {},
       ""});
  CHECK(reinterpret_cast<float (*)(float, float)>(module->symbol("average"))(0.0f, 4.0f) == 0.0f);
}
