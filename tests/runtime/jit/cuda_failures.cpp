// Tests of CUDA text that does not compile, of warnings, and of a missing or incomplete NVRTC.
// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <stdlib.h>

#include <filesystem>
#include <string>

#include "compiler/error.hpp"
#include "runtime/jit/cuda_compiler.hpp"
#include "tests/runtime/jit/support.hpp"
#include "tests/support/messages.hpp"
#include "tests/support/nvrtc.hpp"

using namespace ondula;
using namespace ondula::test;

namespace {

const jit::CudaArchitecture hopper = {9, 0, "", false};

jit::KernelSource broken_source() {
  return {
      "extern \"C\" __global__ void step(float* u) {\n  // elastic.cpp:12: dt(v) = div(s) / rho\n"
      "  float a = 1.0f;\n  u[0] = a * missing;\n}\n",
      "elastic",
      {"-DROWS=4"},
      ""};
}

CompileError failure_of(jit::CudaCompiler& compiler, const jit::KernelSource& source) {
  try {
    compiler.compile(source, hopper);
  } catch (const CompileError& error) {
    return error;
  }
  throw InternalError("the broken text compiled");
}

/// Runs this very test program's case `name` with `assignments` before it; what it printed.
std::string rerun(const std::string& assignments, const std::string& name,
                  const std::filesystem::path& output) {
  const std::string command =
      fmt::format("{} '{}' -ns -tc='{}' > '{}' 2>&1", assignments,
                  std::filesystem::read_symlink("/proc/self/exe").string(), name, output.string());
  const int status = ::system(command.c_str());
  return fmt::format("status {}\n{}", status, read_bytes(output));
}

}  // namespace

TEST_CASE(
    "F12: a bad CUDA expression's message gives the DSL line, the equation, the options and the saved "
    "source") {
  ONDULA_NEEDS_NVRTC();
  const TemporaryDirectory directory;
  jit::CudaCompiler compiler(cache_in(directory));
  const CompileError error = failure_of(compiler, broken_source());
  const std::string message = error.what();
  CAPTURE(message);
  CHECK(message.starts_with("the cuda kernels of equation 'elastic' did not compile:\n"));
  CHECK(holds(message, "elastic.cu(4): error: identifier \"missing\" is undefined"));
  CHECK(holds(message, "    2 |   // elastic.cpp:12: dt(v) = div(s) / rho"));
  CHECK(holds(message, "    4 |   u[0] = a * missing;"));
  CHECK(holds(message, "-DROWS=4"));
  CHECK(holds(message, error.source_path()));
  CHECK(holds(error.log(), "1 error detected"));
  CHECK(error.source_path().ends_with(".cu"));
  CHECK(read_bytes(error.source_path()) == broken_source().text);
  CHECK(compiler.cache().clear() == 1);
}

TEST_CASE("C13: a broken CUDA kernel fails every time, in this process and from a warm cache") {
  ONDULA_NEEDS_NVRTC();
  const TemporaryDirectory directory;
  jit::CudaCompiler first(cache_in(directory)), second(cache_in(directory));
  const std::string message = failure_of(first, broken_source()).what();
  for (int i = 0; i < 2; ++i) CHECK(failure_of(first, broken_source()).what() == message);
  for (int i = 0; i < 3; ++i) CHECK(failure_of(second, broken_source()).what() == message);
  CHECK(first.history().empty());
  CHECK(first.cache().list().empty());
  CHECK(first.compile(cuda_axpy_source(), hopper)->record().compiled);
}

TEST_CASE("cuda: warnings of NVRTC and of its assembler are told") {
  ONDULA_NEEDS_NVRTC();
  Warnings warnings;
  jit::CudaCompiler compiler({.directory = "off"}, warnings.sink());
  jit::KernelSource unused = cuda_axpy_source(), bounds = cuda_axpy_source();
  unused.text = "extern \"C\" __global__ void f(float* y) { int unused = 3; y[0] = 1; }\n";
  bounds.text = "extern \"C\" __global__ void __launch_bounds__(1024, 9) f(float* y) { y[0] = 1; }\n";
  const auto first = compiler.compile(unused, hopper);
  REQUIRE(first->warnings().size() == 1);
  CHECK(holds(first->warnings()[0], "unused"));
  CHECK(compiler.compile(bounds, hopper)->warnings().size() == 1);
  REQUIRE(warnings.all().size() == 2);
  CHECK(holds(warnings.all()[1], "minnctapersm"));
}

TEST_CASE("cuda: without NVRTC the error says where it was looked for") {
  const TemporaryDirectory directory;
  jit::CudaCompiler compiler({.directory = "off"}, {}, directory.path().string());
  const auto compile = [&] { compiler.compile(cuda_axpy_source(), hopper); };
  for (int i = 0; i < 2; ++i)
    CHECK_THROWS_WITH_AS(
        compile(),
        fmt::format(
            "NVRTC (libnvrtc.so.*) is missing, which compiles kernels for CUDA. Looked in {0}/lib64, "
            "{0}/lib, "
            "{0}/targets/x86_64-linux/lib. It comes with the CUDA toolkit; CUDA_HOME names another place for "
            "it. The host backend does without",
            directory.path().string())
            .c_str(),
        RuntimeError);
  std::filesystem::create_directories(directory.path() / "lib64");
  write_bytes(directory.path() / "lib64" / "libnvrtc.so.13", "no library");
  const jit::NvrtcStatus status = jit::inspect_nvrtc(directory.path().string());
  CHECK_FALSE(status.usable);
  CHECK(holds(status.problem, "libnvrtc.so.13 cannot be opened: "));
}

// Not a test by itself: C18 below runs it in a process of its own, since the loader reads LD_LIBRARY_PATH
// when a process starts, and fails where it fails.
TEST_CASE("cuda builtins hidden" * doctest::skip()) {
  jit::CudaCompiler compiler({.directory = "off"});
  try {
    compiler.compile(cuda_axpy_source(), hopper);
    FAIL("it compiled without the builtins");
  } catch (const RuntimeError& error) {
    MESSAGE(std::string(error.what()));
  }
  jit::HostCompiler host({.directory = "off"});
  CHECK(axpy_works(*host.compile(axpy_source())));
}

TEST_CASE(
    "C18: with NVRTC's builtins hidden the error names the file and the searched paths, and the host works") {
  ONDULA_NEEDS_CLANG();
  ONDULA_NEEDS_NVRTC();
  const TemporaryDirectory directory;
  const std::filesystem::path toolkit = directory.path() / "toolkit", broken = directory.path() / "broken";
  std::filesystem::create_directories(toolkit / "lib64");
  std::filesystem::create_directories(broken);
  const jit::NvrtcStatus status = jit::inspect_nvrtc();
  const std::string name = "libnvrtc-builtins.so." + status.version.text();
  std::filesystem::create_symlink(status.path, toolkit / "lib64" / "libnvrtc.so.99");
  write_bytes(broken / name, "");  // what the loader finds before the one in its own path
  const std::string said =
      rerun(fmt::format("CUDA_HOME='{}' LD_LIBRARY_PATH='{}'", toolkit.string(), broken.string()),
            "cuda builtins hidden", directory.path() / "output");
  CAPTURE(said);
  CHECK(said.starts_with("status 0\n"));
  CHECK(holds(said, "cannot open " + name + ", which it needs"));
  CHECK(holds(said, fmt::format("Looked in {}, {}, the loader's path", (toolkit / "lib64").string(),
                                broken.string())));
}
