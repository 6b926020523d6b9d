// The stand-in's compiler: what a binary says of its kernels, to the driver and to what reads cubins;
// refusals. SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "compiler/error.hpp"
#include "runtime/device/sim/compile.hpp"
#include "runtime/device/sim/executor.hpp"
#include "runtime/device/sim/scan.hpp"
#include "runtime/jit/cubin.hpp"
#include "tests/runtime/jit/support.hpp"
#include "tests/support/messages.hpp"

namespace ondula::test {
namespace {

const std::vector<std::string> options = {"--gpu-architecture=sm_90", "--fmad=false", "--ftz=true"};

// extern "C" and __global__ in comments and strings mean nothing.
constexpr const char* text = R"(// extern "C" __global__ void no(int a);
#define KERNEL(t, b) \
  extern "C" __global__ void __launch_bounds__(t, b)
KERNEL(32 * 4, 2) first(const float* __restrict__ from, double* to, const int n, long long m, char tag) {
  if (threadIdx.x == 0) to[0] = from[n] * m + tag;  /* __syncthreads() */
}
__device__ float twice(float a) { return a + a + threadIdx.x; }
extern "C" __global__ void second(float* to) {
  __shared__ float tile[16];
  tile[threadIdx.x % 16] = twice(1.5f);
  __syncthreads();
  to[threadIdx.x] = tile[threadIdx.x % 16];
}
)";

}  // namespace

TEST_CASE("cuda-sim compile: kernels are found behind macros, with bounds and names, and nowhere else") {
  const sim::Scanned scanned = sim::scan(text);
  REQUIRE(scanned.kernels.size() == 2);
  CHECK(scanned.kernels[0].name == "first");
  CHECK(scanned.kernels[0].bounds == "32 * 4 , 2");
  CHECK(scanned.kernels[0].parameters == std::vector<std::string>{"from", "to", "n", "m", "tag"});
  CHECK(!scanned.kernels[0].barriers);
  CHECK(scanned.kernels[1].bounds == "");
  CHECK(scanned.kernels[1].barriers);
  CHECK(scanned.kernels[1].shared);
  CHECK(scanned.text.size() == std::string(text).size());
  CHECK(scanned.text.find("// extern \"C\"") == 0);
  CHECK(scanned.text.find("extern", 20) == std::string::npos);
}

TEST_CASE("cuda-sim compile: a binary tells its architecture and its kernels, layout and bounds included") {
  ONDULA_NEEDS_CLANG();
  const sim::Compiled compiled = sim::compile("two.cu", text, options);
  CHECK(compiled.log == "");
  REQUIRE(compiled.succeeded);
  CHECK(sim::Program::bytes_at(compiled.binary.data()) == compiled.binary.size());
  const auto program = sim::Program::load(compiled.binary);
  CHECK(program->capability() == 90);
  CHECK(program->find("third") == nullptr);
  REQUIRE(program->kernels().size() == 2);
  const sim::Kernel& first = *program->find("first");
  CHECK(first.threads_bound == 128);
  CHECK(first.blocks_bound == 2);
  CHECK(first.argument_bytes == 33);
  REQUIRE(first.parameters.size() == 5);
  const std::vector<std::size_t> offsets = {0, 8, 16, 24, 32}, sizes = {8, 8, 4, 8, 1};
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    CHECK(first.parameters[i].offset == offsets[i]);
    CHECK(first.parameters[i].bytes == sizes[i]);
    CHECK(first.parameters[i].pointer == (i < 2));
  }
  const sim::Kernel& second = *program->find("second");
  CHECK(second.barriers);
  CHECK(second.shared_bytes == 64);
  CHECK(second.threads_bound == 1024);
}

TEST_CASE("cuda-sim compile: what reads cubins reads the stand-in's binaries") {
  ONDULA_NEEDS_CLANG();
  const sim::Compiled compiled = sim::compile("two.cu", text, options);
  const jit::CubinUse use = jit::read_cubin(compiled.binary);
  CHECK(use.capability == 90);
  REQUIRE(use.kernels.size() == 2);
  CHECK(use.kernels[0].name == "first");
  CHECK(use.kernels[0].max_threads == 128);
  CHECK(use.kernels[0].parameter_bytes == 33);
  CHECK(use.kernels[1].name == "second");
  CHECK(use.kernels[1].shared_bytes == 64);
}

TEST_CASE("cuda-sim compile: a fault in the text is told with its line, as NVRTC tells it") {
  ONDULA_NEEDS_CLANG();
  const sim::Compiled compiled =
      sim::compile("bad.cu", "extern \"C\" __global__ void k(float* a) {\n  a[0] = b;\n}\n", options);
  CHECK(!compiled.succeeded);
  CHECK(compiled.binary.empty());
  CHECK(compiled.log.starts_with("bad.cu(2): error: use of undeclared identifier 'b'"));
}

TEST_CASE("cuda-sim compile: macros are defined; unknown options and no architecture are refused by name") {
  ONDULA_NEEDS_CLANG();
  const std::string defined = "extern \"C\" __global__ void k(float* a) { a[0] = VALUE; }\n";
  CHECK(sim::compile("k.cu", defined, {"-arch=sm_75", "-DVALUE=3", "--maxrregcount=32", "-lineinfo"})
            .succeeded);
  CHECK(sim::compile("k.cu", defined, {"-DVALUE=3"}).log.find("no architecture") != std::string::npos);
  const sim::Compiled unknown = sim::compile("k.cu", defined, {"-arch=sm_75", "--fmad=true"});
  CHECK(!unknown.succeeded);
  CHECK(unknown.log.find("'--fmad=true'") != std::string::npos);
}

TEST_CASE("cuda-sim: bytes that are no binary, a cubin of a GPU and a damaged binary are refused") {
  ONDULA_NEEDS_CLANG();
  const auto refused = [](const std::vector<std::byte>& bytes) {
    return message_of<RuntimeError>([&] { sim::Program::load(bytes); });
  };
  const std::string ptx = ".version 8.0\n.target sm_90\n";
  const auto* begin = reinterpret_cast<const std::byte*>(ptx.data());
  CHECK(refused({begin, begin + ptx.size()}).find("not a binary of the stand-in") != std::string::npos);
  CHECK(sim::Program::bytes_at(ptx.data()) == 0);
  const std::vector<std::byte> binary = sim::compile("two.cu", text, options).binary;
  for (std::size_t at = 1; at < binary.size(); at += binary.size() / 37) {
    std::vector<std::byte> damaged = binary;
    damaged.resize(at);
    CHECK(refused(damaged) != "");
  }
  std::vector<std::byte> changed = binary;
  changed[changed.size() / 2] ^= std::byte{1};
  CHECK(refused(changed).find("damaged") != std::string::npos);
}

}  // namespace ondula::test
