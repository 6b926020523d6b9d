// What an author is told when generated text does not compile.
// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "compiler/emit/host_text.hpp"
#include "compiler/error.hpp"
#include "compiler/passes/pipeline.hpp"
#include "equations/equations.hpp"
#include "runtime/jit/host_compiler.hpp"
#include "tests/runtime/jit/support.hpp"

namespace ondula::test {

EQUATION(faulty, "a wave whose text is spoilt below") {
  auto vp = parameter("vp", "m/s", positive);
  auto u = scalar("u", "Pa");
  evolve(dtt(u) = sq(vp) * laplacian(u) + source(u));
}
constexpr unsigned evolve_line = __LINE__ - 2;

namespace {

/// The text with an expression that names nothing, in the piece of the plain update.
std::string spoilt(std::string text) {
  const std::string store = "put(u_next + i, wide(";
  const std::size_t at = text.find(store);
  REQUIRE(at != std::string::npos);
  return text.insert(at + store.size(), "missing + ");
}

}  // namespace

TEST_CASE(
    "F12: a spoilt kernel is told with equation, the author's line, the failing line and the saved text") {
  ONDULA_NEEDS_CLANG();
  const TemporaryDirectory directory;
  jit::HostCompiler compiler(cache_in(directory));
  const auto kernels = passes::compile(faulty(), {{"z", "x"}, 4, false, false}).kernels;
  const std::string text = spoilt(emit::host_text(kernels, emit::Real::float32));
  try {
    compiler.compile({text, "faulty", {}, ""});
    FAIL("the spoilt text compiled");
  } catch (const CompileError& error) {
    const std::string message = error.what();
    INFO(message);
    CHECK(message.find("equation 'faulty'") != std::string::npos);
    CHECK(message.find("// compile_failure.cpp:" + std::to_string(evolve_line) + ": u") != std::string::npos);
    CHECK(message.find("use of undeclared identifier 'missing'") != std::string::npos);
    CHECK(message.find("put(u_next + i, wide(missing + ") != std::string::npos);
    CHECK(message.find(error.source_path()) != std::string::npos);
    CHECK(read_bytes(error.source_path()) == text);
  }
}

}  // namespace ondula::test
