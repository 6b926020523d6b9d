// Tests of reading cubins: against the assembler's own words, and of damaged files.
// SPDX-License-Identifier: MIT
#include "runtime/jit/cubin.hpp"

#include <doctest/doctest.h>

#include <cstring>
#include <map>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "compiler/error.hpp"
#include "runtime/jit/cuda_compiler.hpp"
#include "tests/runtime/jit/support.hpp"
#include "tests/support/nvrtc.hpp"

using namespace ondula;
using namespace ondula::test;

namespace {

/// What ptxas -v says of one kernel.
struct Said {
  int registers = 0, barriers = 0;
  long stack = 0, stores = 0, loads = 0, shared = 0;
};

std::map<std::string, Said> read_log(const std::string& log) {
  std::map<std::string, Said> said;
  std::string name;
  std::istringstream lines(log);
  static const std::regex compiling("Compiling entry function '(.*)' for"),
      uses("Used ([0-9]+) registers, used ([0-9]+) barriers"), smem("([0-9]+) bytes smem"),
      spills("([0-9]+) bytes stack frame, ([0-9]+) bytes spill stores, ([0-9]+) bytes spill loads");
  std::smatch match;
  for (std::string line; std::getline(lines, line);) {
    if (std::regex_search(line, match, compiling)) name = match[1];
    if (std::regex_search(line, match, spills)) {
      said[name].stack = std::stol(match[1]);
      said[name].stores = std::stol(match[2]);
      said[name].loads = std::stol(match[3]);
    }
    if (std::regex_search(line, match, uses)) {
      said[name].registers = std::stoi(match[1]);
      said[name].barriers = std::stoi(match[2]);
    }
    if (std::regex_search(line, match, smem)) said[name].shared = std::stol(match[1]);
  }
  return said;
}

/// A kernel that marches with a register queue and shared memory, one that spills, and one in float64.
const char* const kernels = R"(
extern "C" __global__ void __launch_bounds__(256, 2) march(float* __restrict__ y, const float* __restrict__ x,
                                                           int nz, long stride) {
  __shared__ float plane[256];
  long p = (long)blockIdx.x * 256 + threadIdx.x;
  float q[5];
#pragma unroll
  for (int k = 0; k < 4; ++k) q[k] = x[p + k * stride];
#pragma unroll 1
  for (int z = 0; z < nz; ++z) {
    q[4] = x[p + 4 * stride];
    plane[threadIdx.x] = q[2];
    __syncthreads();
    y[p] = fmaf(0.3f, q[2], q[0] + q[4]) + (q[1] + q[3]) * plane[255 - threadIdx.x];
    __syncthreads();
    p += stride;
#pragma unroll
    for (int k = 0; k < 4; ++k) q[k] = q[k + 1];
  }
}
extern "C" __global__ void __launch_bounds__(1024, 1) spills(float* y, const float* x) {
  float a[120];
#pragma unroll
  for (int i = 0; i < 120; ++i) a[i] = x[i * 1024 + threadIdx.x];
  float s = 0;
#pragma unroll
  for (int i = 0; i < 120; ++i) s = s * a[i] + a[119 - i];
  y[threadIdx.x] = s;
}
extern "C" __global__ void wide(double* y, const double* x, const float4* v, float4* w) {
  const int i = threadIdx.x;
  y[i] = fma(x[i], y[i], 2.0) + 1.0;
  w[i] = v[i];
}
)";

const jit::KernelUse& find(const jit::CubinUse& use, const std::string& name) {
  for (const jit::KernelUse& kernel : use.kernels)
    if (kernel.name == name) return kernel;
  throw InternalError(name + " is missing");
}

}  // namespace

TEST_CASE("cubin: registers, stack, shared memory and spills are those the assembler tells") {
  ONDULA_NEEDS_NVRTC();
  jit::CudaCompiler compiler({.directory = "off"});
  const jit::KernelSource source = {kernels, "test", {"--ptxas-options=-v"}, ""};
  for (const std::string architecture : {"sm_75", "sm_80", "sm_90", "sm_100", "sm_120"}) {
    CAPTURE(architecture);
    const auto program = compiler.compile(source, jit::parse_architecture(architecture));
    const auto said = read_log(program->log());
    REQUIRE(said.size() == 3);
    REQUIRE(program->use().kernels.size() == 3);
    for (const jit::KernelUse& kernel : program->use().kernels) {
      CAPTURE(kernel.name);
      const Said& expected = said.at(kernel.name);
      CHECK(kernel.registers == expected.registers);
      CHECK(kernel.stack_bytes == expected.stack);
      CHECK(kernel.shared_bytes == expected.shared);
      CHECK(kernel.code.all.local.store_bytes == expected.stores);
      CHECK(kernel.code.all.local.load_bytes == expected.loads);
      CHECK((kernel.code.all.barriers > 0) == (expected.barriers > 0));
    }
    CHECK(find(program->use(), "spills").code.all.local.stores > 0);
  }
}

TEST_CASE("cubin: arithmetic, loads and stores are counted, in the whole and in the loop") {
  ONDULA_NEEDS_NVRTC();
  jit::CudaCompiler compiler({.directory = "off"});
  for (const std::string architecture : {"sm_75", "sm_80", "sm_90", "sm_100", "sm_120"}) {
    CAPTURE(architecture);
    const auto program = compiler.compile({kernels, "test", {}, ""}, jit::parse_architecture(architecture));
    const jit::KernelUse& march = find(program->use(), "march");
    CHECK(march.max_threads == 256);
    CHECK(march.parameter_bytes == 32);
    CHECK(march.code.all.global.loads == 5);
    const jit::SassCounts& loop = march.code.loop;
    CHECK(loop.instructions > 0);
    CHECK(loop.instructions < march.code.all.instructions);
    CHECK(loop.global.loads == 1);
    CHECK(loop.global.load_bytes == 4);
    CHECK(loop.global.stores == 1);
    CHECK(loop.shared.loads == 1);
    CHECK(loop.shared.stores == 1);
    CHECK(loop.barriers == 2);
    CHECK(loop.fma == 1);
    CHECK(loop.add == 3);
    CHECK(loop.multiply == 1);
    const jit::SassSummary& wide = find(program->use(), "wide").code;
    CHECK(wide.loop.instructions == 0);
    CHECK(wide.all.global.loads == 3);
    CHECK(wide.all.global.load_bytes == 32);
    CHECK(wide.all.global.store_bytes == 24);
    CHECK(wide.all.fma == 1);
    CHECK(wide.all.add == 1);
  }
}

TEST_CASE("cubin: a damaged file is refused, wherever it is cut or changed") {
  ONDULA_NEEDS_NVRTC();
  jit::CudaCompiler compiler({.directory = "off"});
  const auto program = compiler.compile(cuda_axpy_source(), jit::parse_architecture("sm_90"));
  const std::vector<std::byte> good(program->binary().begin(), program->binary().end());
  CHECK(jit::read_cubin(good).capability == 90);
  CHECK_THROWS_AS(jit::read_cubin({}), InternalError);
  for (std::size_t size = 0; size < good.size(); size += 97)
    CHECK_THROWS_AS(jit::read_cubin(std::span(good).first(size)), InternalError);
  std::size_t survived = 0;
  for (std::size_t at = 0; at < good.size(); at += 7) {
    std::vector<std::byte> changed = good;
    changed[at] ^= std::byte{0xff};
    try {
      jit::read_cubin(changed);
      ++survived;  // a changed instruction, say: the cache's checksum is what finds it
    } catch (const InternalError&) {
    }
  }
  CHECK(survived > 0);
}
