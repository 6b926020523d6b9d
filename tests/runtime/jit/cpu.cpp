// Tests of the CPU's features and of doing with fewer.
// SPDX-License-Identifier: MIT
#include "runtime/jit/cpu.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "compiler/error.hpp"
#include "tests/runtime/jit/support.hpp"

using namespace ondula;

namespace {

const jit::Cpu wide = {
    "Test",
    6,
    1,
    {"avx", "avx2", "avx512bw", "avx512f", "f16c", "fma", "popcnt", "sse3", "sse4.1", "sse4.2", "ssse3"}};

}  // namespace

TEST_CASE("cpu: the features are sorted, and those the kernel also reports") {
  const jit::Cpu cpu = jit::host_cpu();
  CHECK(cpu.vendor.size() == 12);
  CHECK(std::is_sorted(cpu.features.begin(), cpu.features.end()));
  CHECK(cpu == jit::host_cpu());
  const std::string info = test::read_bytes("/proc/cpuinfo");
  for (const char* name : {"avx", "avx2", "fma", "f16c", "avx512f", "bmi2", "ssse3"})
    CHECK(cpu.has(name) == (info.find(std::string(" ") + name + " ") != std::string::npos));
}

TEST_CASE("cpu: leaving a feature out takes those that rest on it") {
  CHECK(jit::restrict_cpu(wide, "") == wide);
  CHECK(jit::restrict_cpu(wide, "-avx512f").features == std::vector<std::string>{"avx", "avx2", "f16c", "fma",
                                                                                 "popcnt", "sse3", "sse4.1",
                                                                                 "sse4.2", "ssse3"});
  CHECK(jit::restrict_cpu(wide, "-avx").features ==
        std::vector<std::string>{"popcnt", "sse3", "sse4.1", "sse4.2", "ssse3"});
}

TEST_CASE("cpu: naming features keeps them and what they need, and nothing else") {
  CHECK(jit::restrict_cpu(wide, "fma, avx2").features ==
        std::vector<std::string>{"avx", "avx2", "fma", "sse3", "sse4.1", "sse4.2", "ssse3"});
  CHECK(jit::restrict_cpu(wide, "baseline").features.empty());
}

TEST_CASE("cpu: a feature the CPU lacks is refused by name") {
  CHECK_THROWS_WITH_AS(jit::restrict_cpu({"Test", 6, 1, {"sse3"}}, "avx2"),
                       "CPU features 'avx2': 'avx2' is not one of this CPU's, which are sse3", UserError);
  CHECK_THROWS_AS(jit::restrict_cpu(wide, "-avx9000"), UserError);
  CHECK_NOTHROW(jit::restrict_cpu({"Test", 6, 1, {"sse3"}}, "-avx512f"));  // already absent
}
