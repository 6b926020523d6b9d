// Tests of kernels that do not compile and of a missing compiler.
// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <stdlib.h>

#include <filesystem>
#include <string>

#include "compiler/error.hpp"
#include "runtime/jit/host_compiler.hpp"
#include "tests/runtime/jit/support.hpp"
#include "tests/support/messages.hpp"

using namespace ondula;
using namespace ondula::test;

namespace {

jit::HostSource broken_source() {
  return {
      "extern \"C\" void step(float* u) {\n  // acoustic.cpp:12: dtt(u) = sq(vp) * laplacian(u)\n"
      "  float a = 1.0f;\n  u[0] = a * missing;\n}\n",
      "acoustic",
      {"-DROWS=4"},
      ""};
}

/// Compiles and returns the error, which must come.
CompileError failure_of(jit::HostCompiler& compiler, const jit::HostSource& source) {
  try {
    compiler.compile(source);
  } catch (const CompileError& error) {
    return error;
  }
  throw InternalError("the broken text compiled");
}

}  // namespace

TEST_CASE(
    "F12: a bad expression's message gives the DSL line, the equation, the options and the saved source") {
  ONDULA_NEEDS_CLANG();
  const TemporaryDirectory directory;
  jit::HostCompiler compiler(cache_in(directory));
  const CompileError error = failure_of(compiler, broken_source());
  const std::string message = error.what();
  CHECK(holds(message, "'acoustic'"));
  CHECK(holds(message, "acoustic.cpp:4:14: error: use of undeclared identifier 'missing'"));
  CHECK(holds(message, "    2 |   // acoustic.cpp:12: dtt(u) = sq(vp) * laplacian(u)"));
  CHECK(holds(message, "    4 |   u[0] = a * missing;"));
  CHECK(holds(message, "-DROWS=4"));
  CHECK(holds(message, error.source_path()));
  CHECK(holds(error.log(), "undeclared identifier"));
  CHECK(read_bytes(error.source_path()) == broken_source().text);
  CHECK(error.source_path().starts_with(directory.path().string()));
}

TEST_CASE("F12: without a cache the failing source goes to the temporary folder") {
  ONDULA_NEEDS_CLANG();
  const TemporaryDirectory directory;
  ::setenv("TMPDIR", directory.path().c_str(), 1);
  jit::HostCompiler compiler({.directory = "off"});
  const CompileError error = failure_of(compiler, broken_source());
  CHECK(error.source_path().starts_with(directory.path().string()));
  CHECK(read_bytes(error.source_path()) == broken_source().text);
}

TEST_CASE("C13: a broken kernel fails every time, in this process and from a warm cache") {
  ONDULA_NEEDS_CLANG();
  const TemporaryDirectory directory;
  jit::HostCompiler first(cache_in(directory)), second(cache_in(directory));
  const std::string message = failure_of(first, broken_source()).what();
  for (int i = 0; i < 2; ++i) CHECK(failure_of(first, broken_source()).what() == message);
  for (int i = 0; i < 3; ++i) CHECK(failure_of(second, broken_source()).what() == message);
  CHECK(first.history().empty());
  CHECK(axpy_works(*first.compile(axpy_source())));
}

TEST_CASE("jit: a warning in the text is an error, and an include finds nothing") {
  ONDULA_NEEDS_CLANG();
  jit::HostCompiler compiler({.directory = "off"});
  CHECK(holds(
      failure_of(compiler, {"extern \"C\" int f(int a) { if (a = 1) return 1; return 0; }", "w", {}, ""})
          .log(),
      "[-Werror,-Wparentheses]"));
  CHECK(
      holds(failure_of(compiler, {"#include <stdlib.h>\n", "i", {}, ""}).log(), "'stdlib.h' file not found"));
}

TEST_CASE("jit: a fatal error inside LLVM comes back as an error, and the next text compiles") {
  ONDULA_NEEDS_CLANG();
  const TemporaryDirectory directory;
  const std::filesystem::path output = directory.path() / "output";
  const bool good = in_child(
      [&] {
        jit::HostCompiler compiler({.directory = "off"});
        const CompileError error =
            failure_of(compiler, {"#pragma clang __debug llvm_fatal_error\n", "f", {}, ""});
        return holds(error.log(), "fatal error in the compiler") &&
               axpy_works(*compiler.compile(axpy_source()));
      },
      output);
  CHECK(good);
  CHECK(read_bytes(output) == "");
}

TEST_CASE("jit: a symbol the kernels lack is named with those they have") {
  ONDULA_NEEDS_CLANG();
  jit::HostCompiler compiler({.directory = "off"});
  const auto module = compiler.compile(axpy_source());
  CHECK_THROWS_WITH_AS(module->symbol("axpb"), "the compiled kernels of 'test' hold no 'axpb', but axpy",
                       InternalError);
}

TEST_CASE("jit: a missing Clang module is told with the place looked at, and is not remembered") {
  ONDULA_NEEDS_CLANG();
  jit::HostCompiler compiler({.directory = "off"});
  ::setenv("ONDULA_CLANG_MODULE", "/nowhere/libondula-clang.so", 1);
  const jit::ClangStatus status = jit::inspect_clang();
  CHECK_FALSE(status.usable);
  CHECK(status.searched == std::vector<std::string>{"/nowhere/libondula-clang.so"});
  CHECK(holds(status.problem, "libondula-clang.so is missing"));
  CHECK_THROWS_WITH_AS(compiler.compile(axpy_source()), status.problem.c_str(), RuntimeError);
  ::unsetenv("ONDULA_CLANG_MODULE");
  CHECK(axpy_works(*compiler.compile(axpy_source())));
}

TEST_CASE("jit: a library that is no Clang module is refused") {
  const TemporaryDirectory directory;
  const std::filesystem::path path = directory.path() / "libondula-clang.so";
  write_bytes(path, "no library");
  ::setenv("ONDULA_CLANG_MODULE", path.c_str(), 1);
  const jit::ClangStatus status = jit::inspect_clang();
  ::unsetenv("ONDULA_CLANG_MODULE");
  CHECK_FALSE(status.usable);
  CHECK(holds(status.problem, "cannot be opened"));
}

TEST_CASE("jit: the Clang module that was built is found and usable") {
  ONDULA_NEEDS_CLANG();
  const jit::ClangStatus status = jit::inspect_clang();
  CHECK(status.problem == "");
  CHECK(status.usable);
  CHECK(status.version == status.built_version);
}
