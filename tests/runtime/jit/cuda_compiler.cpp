// Tests of compiling CUDA text, and of what is compiled only once.
// SPDX-License-Identifier: MIT
#include "runtime/jit/cuda_compiler.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <thread>
#include <vector>

#include "compiler/error.hpp"
#include "tests/runtime/jit/support.hpp"
#include "tests/support/nvrtc.hpp"

using namespace ondula;
using namespace ondula::test;
using jit::parse_architecture;

TEST_CASE("cuda: a kernel is compiled to a cubin, and no second time in the process") {
  ONDULA_NEEDS_NVRTC();
  const TemporaryDirectory directory;
  Warnings warnings;
  jit::CudaCompiler compiler(cache_in(directory), warnings.sink());
  const auto program = compiler.compile(cuda_axpy_source(), parse_architecture("sm_90"));
  CHECK(program->record().compiled);
  CHECK(program->architecture().text() == "sm_90");
  CHECK(program->nvrtc().major >= 11);
  CHECK(program->log().empty());
  REQUIRE(program->use().kernels.size() == 1);
  CHECK(program->use().kernels.front().name == "axpy");
  CHECK(compiler.compile(cuda_axpy_source(), parse_architecture("sm_90")) == program);
  CHECK(compiler.history().back().in_process);
  CHECK(warnings.all().empty());
}

TEST_CASE("cuda: a second compiler finds the kernel on disk within 20 ms, without opening NVRTC") {
  ONDULA_NEEDS_NVRTC();
  const TemporaryDirectory directory;
  const auto architecture = parse_architecture("sm_90");
  const auto first = jit::CudaCompiler(cache_in(directory)).compile(cuda_axpy_source(), architecture);
  jit::CudaCompiler second(cache_in(directory));
  const auto program = second.compile(cuda_axpy_source(), architecture);
  CHECK(program->record().cache_hit);
  CHECK_FALSE(program->record().compiled);
  CHECK(program->record().seconds < 0.02);
  CHECK(std::ranges::equal(program->binary(), first->binary()));
  CHECK(program->nvrtc() == first->nvrtc());
}

TEST_CASE("cuda: PTX comes where it is asked for") {
  ONDULA_NEEDS_NVRTC();
  jit::CudaCompiler compiler({.directory = "off"});
  const auto program = compiler.compile(cuda_axpy_source(), parse_architecture("compute_90"));
  const std::string text(reinterpret_cast<const char*>(program->binary().data()), program->binary().size());
  CHECK(text.find(".target sm_90") != std::string::npos);
  CHECK(text.find(".entry axpy") != std::string::npos);
  CHECK(text.find("fma.rn.ftz.f32") != std::string::npos);
  CHECK(program->use().kernels.empty());
  CHECK(compiler.architecture_for(99, 0).portable);
}

TEST_CASE("cuda: arithmetic stays as written: a product and a sum are not fused") {
  ONDULA_NEEDS_NVRTC();
  jit::CudaCompiler compiler({.directory = "off"});
  jit::KernelSource source = cuda_axpy_source();
  source.text =
      "extern \"C\" __global__ void f(float* y, double* z) { y[0] = y[1] * y[2] + y[3]; "
      "z[0] = z[1] * z[2] + z[3]; }";
  const auto program = compiler.compile(source, parse_architecture("sm_90"));
  const jit::SassCounts& counts = program->use().kernels.at(0).code.all;
  CHECK(counts.fma == 0);
  CHECK(counts.multiply == 2);
  CHECK(counts.add == 2);
}

TEST_CASE(
    "cuda: float32 denormals are flushed as on the host, float64 ones kept, division and root stay exact") {
  ONDULA_NEEDS_NVRTC();
  jit::CudaCompiler compiler({.directory = "off"});
  const char* text =
      "extern \"C\" __global__ void f(float* u, double* v) {\n"
      "  u[0] = u[1] * u[2] + u[3];\n  u[4] = u[5] / u[6];\n  u[7] = sqrtf(u[8]);\n"
      "  v[0] = v[1] * v[2] + v[3] / v[4] + u[9];\n}\n";
  const auto program = compiler.compile({text, "f", {}, ""}, parse_architecture("compute_90"));
  const std::string ptx(reinterpret_cast<const char*>(program->binary().data()), program->binary().size());
  for (const char* instruction : {"mul.rn.ftz.f32", "add.rn.ftz.f32", "div.rn.ftz.f32", "sqrt.rn.ftz.f32",
                                  "cvt.ftz.f64.f32", "mul.rn.f64", "div.rn.f64"}) {
    CAPTURE(instruction);
    CHECK(ptx.find(instruction) != std::string::npos);
  }
}

TEST_CASE("C9: another build of NVRTC or another text is another key") {
  const auto architecture = parse_architecture("sm_90");
  const std::string key = jit::cuda_key(cuda_axpy_source(), architecture, "build id 1");
  CHECK(key == jit::cuda_key(cuda_axpy_source(), architecture, "build id 1"));
  CHECK(key != jit::cuda_key(cuda_axpy_source(), architecture, "build id 2"));
  CHECK(key != jit::cuda_key(cuda_axpy_source(1), architecture, "build id 1"));
  ONDULA_NEEDS_NVRTC();
  const auto status = jit::inspect_nvrtc();
  CHECK(status.build.starts_with("build id "));
  CHECK(jit::CudaCompiler().key_of(cuda_axpy_source(), architecture) ==
        jit::cuda_key(cuda_axpy_source(), architecture, status.build));
  CHECK(status.build != jit::library_build(ONDULA_PROGRAM));
}

TEST_CASE("C11: compute capabilities 12.0, 12.1, 9.0 and 9.0a are separate entries") {
  ONDULA_NEEDS_NVRTC();
  const TemporaryDirectory directory;
  jit::CudaCompiler compiler(cache_in(directory));
  for (const char* name : {"sm_120", "sm_121", "sm_90", "sm_90a", "compute_90"}) {
    CAPTURE(name);
    const auto program = compiler.compile(cuda_axpy_source(), parse_architecture(name));
    CHECK(program->record().compiled);
    CHECK(program->architecture().text() == name);
  }
  CHECK(compiler.cache().list().size() == 5);
}

TEST_CASE("C12: options of CUDA kernels that mean the same give one key, others another") {
  const auto key = [](const std::vector<std::string>& options) {
    jit::KernelSource source = cuda_axpy_source();
    source.options = options;
    return jit::cuda_key(source, parse_architecture("sm_90"), "b");
  };
  CHECK(key({"-DX", "-DY=2"}) == key({"-DY=2", "-DX=1"}));
  CHECK(key({"--maxrregcount=32", "--maxrregcount=64"}) == key({"--maxrregcount=64"}));
  CHECK(key({}) != key({"--maxrregcount=64"}));
  CHECK(key({}) != key({"-DX"}));
  CHECK_THROWS_WITH_AS(key({"--use_fast_math"}),
                       "CUDA kernel option '--use_fast_math' is unknown; allowed are --maxrregcount=N, "
                       "--ptxas-options=-v, -lineinfo and -DNAME[=VALUE]",
                       UserError);
}

TEST_CASE("C19: a text that includes nothing compiles where no header is, and a header is not found") {
  ONDULA_NEEDS_NVRTC();
  jit::CudaCompiler compiler({.directory = "off"});
  CHECK(compiler.compile(cuda_axpy_source(), parse_architecture("sm_80"))->warnings().empty());
  jit::KernelSource source = cuda_axpy_source();
  source.text = "#include <cuda_fp16.h>\n" + source.text;
  CHECK_THROWS_AS(compiler.compile(source, parse_architecture("sm_80")), CompileError);
}

TEST_CASE("F10: sixteen threads that ask for one CUDA text share one compilation") {
  ONDULA_NEEDS_NVRTC();
  const TemporaryDirectory directory;
  jit::CudaCompiler compiler(cache_in(directory));
  std::vector<std::shared_ptr<const jit::CudaModule>> programs(16);
  std::vector<std::thread> threads;
  threads.reserve(programs.size());
  for (auto& program : programs)
    threads.emplace_back(
        [&] { program = compiler.compile(cuda_axpy_source(), parse_architecture("sm_90")); });
  for (std::thread& thread : threads) thread.join();
  for (const auto& program : programs) CHECK(program == programs.front());
  const auto history = compiler.history();
  CHECK(history.size() == programs.size());
  CHECK(std::ranges::count_if(history, [](const auto& record) { return record.compiled; }) == 1);
}

TEST_CASE("cuda: different texts are compiled in parallel threads, each as alone") {
  ONDULA_NEEDS_NVRTC();
  jit::CudaCompiler together({.directory = "off"}), alone({.directory = "off"});
  const auto architecture = parse_architecture("sm_90");
  std::vector<std::shared_ptr<const jit::CudaModule>> programs(6);
  std::vector<std::thread> threads;
  threads.reserve(programs.size());
  for (int i = 0; i < 6; ++i)
    threads.emplace_back([&, i] {
      programs[static_cast<std::size_t>(i)] = together.compile(cuda_axpy_source(i), architecture);
    });
  for (std::thread& thread : threads) thread.join();
  for (int i = 0; i < 6; ++i)
    CHECK(std::ranges::equal(programs[static_cast<std::size_t>(i)]->binary(),
                             alone.compile(cuda_axpy_source(i), architecture)->binary()));
}
