// Faults planted in kernels: each is found, every time, and what is next to it is not.
// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tests/runtime/device/sim/bench.hpp"
#include "tests/runtime/jit/support.hpp"

namespace ondula::test {
namespace {

using sim::Mode;

constexpr const char* text = R"(
#define KERNEL extern "C" __global__ void __launch_bounds__(64, 2)

KERNEL blur(const float* __restrict__ from, float* __restrict__ to, const int n, const int reach) {
  const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= n) return;
  to[i] = from[i - reach] + from[i + reach];
}

KERNEL in_place(float* field, const int n, const int offset) {
  const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) field[i] = 2 * field[i + offset];
}

KERNEL reversed(float* field, const int n, const int together) {
  __shared__ float tile[64];
  const int t = (int)threadIdx.x, i = (int)(blockIdx.x * blockDim.x) + t;
  tile[t] = field[i];
  if (together) __syncthreads();
  field[i] = tile[(int)blockDim.x - 1 - t];
}

KERNEL some_wait(float* field, const int threads) {
  if ((int)threadIdx.x >= threads) return;
  __syncthreads();
  field[threadIdx.x] = 1;
}

KERNEL two_barriers(float* field) {
  if (threadIdx.x % 2 == 0)
    __syncthreads();
  else
    __syncthreads();
  field[threadIdx.x] = 1;
}

KERNEL halves(const double* a, double* b, const short* which, const long long n) {
  const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) b[i] = a[which[i]];
}

KERNEL far(float* to, const unsigned pitch, const int step) {
  const long long i = blockIdx.x * pitch + threadIdx.x;
  const int j = (int)threadIdx.x * step;
  to[i] = 1;
  to[threadIdx.x + 32] = (float)j;
}
)";

/// Whether exactly one finding begins with `begin` and holds `parts`.
void check_found(Bench& bench, const std::string& begin, const std::vector<std::string>& parts) {
  REQUIRE(bench.findings.size() == 1);
  const std::string found = bench.findings[0].text;
  CAPTURE(found);
  CHECK(found.starts_with(begin));
  for (const std::string& part : parts) CHECK(found.find(part) != std::string::npos);
  CHECK(bench.findings[0].result == (begin.starts_with("out of bounds") ? 700 : 719));
  bench.findings.clear();
}

}  // namespace

TEST_CASE("cuda-sim check: a load or a store one past an allocation is found, and does not happen") {
  ONDULA_NEEDS_CLANG();
  Bench bench(text, Mode::check);
  const std::vector<float> values(102, 1.0f);
  const auto from = bench.array(values), to = bench.array(std::vector<float>(100, 0.0f));
  bench.run("blur", 2, 64, from + 4, to, 100, 1);
  CHECK(bench.findings.empty());
  CHECK(bench.read<float>(to, 100) == std::vector<float>(100, 2.0f));
  bench.run("blur", 2, 64, from + 4, to, 100, 2);
  check_found(bench, "out of bounds: kernel blur, line 7, block (", {"loads 4 bytes", "408 bytes of from"});
  bench.run("blur", 2, 64, from + 4, to, 101, 0);
  check_found(bench, "out of bounds: kernel blur, line 7, block (1, 0, 0), thread (36, 0, 0)",
              {"stores 4 bytes", "right after the 400 bytes of to"});
  bench.run("blur", 2, 64, from + 4, std::uint64_t{0}, 100, 1);
  check_found(bench, "out of bounds", {"stores 4 bytes"});
}

TEST_CASE("cuda-sim check: memory that was freed is out of bounds") {
  ONDULA_NEEDS_CLANG();
  Bench bench(text, Mode::check);
  const auto from = bench.array(std::vector<float>(102, 1.0f)),
             to = bench.array(std::vector<float>(100, 0.0f));
  bench.shadow.remove(from, bench.findings);
  bench.run("blur", 2, 64, from + 4, to, 100, 1);
  check_found(bench, "out of bounds", {"loads", "inside 408 bytes", "were freed"});
}

TEST_CASE("cuda-sim check: an update in place that reads a neighbour is a race, in blocks and between them") {
  ONDULA_NEEDS_CLANG();
  for (const std::uint64_t seed : {1U, 2U, 3U, 4U, 5U}) {
    CAPTURE(seed);
    Bench bench(text, Mode::check, seed);
    const auto field = bench.array(std::vector<float>(130, 1.0f));
    bench.run("in_place", 2, 64, field, 128, 0);
    CHECK(bench.findings.empty());
    bench.run("in_place", 1, 64, field, 64, 1);
    REQUIRE(!bench.findings.empty());
    for (const sim::Finding& finding : bench.findings)
      CHECK(finding.text.starts_with("race: kernel in_place, line 12, block (0, 0, 0), thread ("));
    CHECK(bench.findings[0].text.find("no barrier stands between") != std::string::npos);
    bench.findings.clear();
    bench.run("in_place", 2, 64, field, 64, 64);
    CHECK(bench.findings.empty());  // reads what nobody writes
    bench.run("in_place", 2, 32, field, 64, 32);
    REQUIRE(!bench.findings.empty());
    CHECK(bench.findings[0].text.find("nothing orders the blocks of a launch") != std::string::npos);
  }
}

TEST_CASE("cuda-sim check: the same seed finds the same, another order another thread first") {
  ONDULA_NEEDS_CLANG();
  const auto first = [](std::uint64_t seed) {
    Bench bench(text, Mode::check, seed);
    const auto field = bench.array(std::vector<float>(130, 1.0f));
    bench.run("in_place", 2, 64, field, 128, 1);
    std::string all;
    // Up to the address, which is another in each run.
    for (const sim::Finding& finding : bench.findings)
      all += finding.text.substr(0, finding.text.find(" at 0x")) + "\n";
    return all;
  };
  const std::string found = first(3);
  CHECK(found != "");
  CHECK(first(3) == found);
  CHECK(first(4) != found);
}

TEST_CASE("cuda-sim check: shared memory without its barrier is a race; with it, it is not") {
  ONDULA_NEEDS_CLANG();
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    CAPTURE(seed);
    Bench bench(text, Mode::check, seed);
    std::vector<float> values(128), expected(128);
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = static_cast<float>(i);
      expected[i] = static_cast<float>(64 * (i / 64) + 63 - i % 64);
    }
    const auto field = bench.array(values);
    bench.run("reversed", 2, 64, field, 128, 1);
    CHECK(bench.findings.empty());
    CHECK(bench.read<float>(field, 128) == expected);
    bench.run("reversed", 2, 64, field, 128, 0);
    CHECK(std::any_of(bench.findings.begin(), bench.findings.end(), [](const sim::Finding& finding) {
      return finding.text.starts_with("race: kernel reversed") &&
             finding.text.find("of the shared memory") != std::string::npos;
    }));
  }
}

TEST_CASE("cuda-sim: barriers hold in the fast and the shuffled mode too") {
  ONDULA_NEEDS_CLANG();
  for (const Mode mode : {Mode::fast, Mode::shuffle}) {
    Bench bench(text, mode, 7);
    std::vector<float> values(128);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
    const auto field = bench.array(values);
    bench.run("reversed", 2, 64, field, 128, 1);
    const std::vector<float> result = bench.read<float>(field, 128);
    CHECK(result[0] == 63);
    CHECK(result[127] == 64);
  }
}

TEST_CASE("cuda-sim check: a barrier that a part of the block comes to is found") {
  ONDULA_NEEDS_CLANG();
  Bench bench(text, Mode::check);
  const auto field = bench.array(std::vector<float>(64, 0.0f));
  bench.run("some_wait", 1, 64, field, 64);
  CHECK(bench.findings.empty());
  bench.run("some_wait", 1, 64, field, 63);
  check_found(bench, "divergent barrier: kernel some_wait, block (0, 0, 0)",
              {"of line 25", "thread (63, 0, 0) has ended"});
  bench.run("two_barriers", 1, 64, field);
  check_found(bench, "divergent barrier: kernel two_barriers", {"line 31", "line 33"});
}

TEST_CASE("cuda-sim check: a read of what nothing has written is found, and copies count as writes") {
  ONDULA_NEEDS_CLANG();
  Bench bench(text, Mode::check);
  const auto from = bench.allocate(408), to = bench.allocate(400);
  bench.shadow.wrote(from, 404, 0, "a copy", bench.findings);
  bench.run("blur", 2, 64, from + 4, to, 100, 1);
  check_found(bench,
              "uninitialised read: kernel blur, line 7, block (1, 0, 0), thread (35, 0, 0) loads 4 bytes",
              {"byte 404 of the 408 bytes of from"});
  bench.shadow.wrote(from + 404, 4, 0, "a copy", bench.findings);
  bench.run("blur", 2, 64, from + 4, to, 100, 1);
  CHECK(bench.findings.empty());
  bench.shadow.read(to, 400, 0, "a copy to the host", bench.findings);
  CHECK(bench.findings.empty());
  bench.shadow.forget(to, 400);
  bench.shadow.read(to, 400, 0, "a copy to the host", bench.findings);
  check_found(bench, "uninitialised read: a copy to the host of 400 bytes", {});
}

TEST_CASE("cuda-sim check: words of 2 and 8 bytes are looked at as well") {
  ONDULA_NEEDS_CLANG();
  Bench bench(text, Mode::check);
  const auto a = bench.array(std::vector<double>{1, 2, 3}), b = bench.array(std::vector<double>(5, 0.0));
  const auto which = bench.array(std::vector<short>{0, 1, 2, 1, 0});
  bench.run("halves", 1, 64, a, b, which, 5LL);
  CHECK(bench.findings.empty());
  CHECK(bench.read<double>(b, 5) == std::vector<double>{1, 2, 3, 2, 1});
  bench.run("halves", 1, 64, a, b, which, 6LL);
  check_found(bench, "out of bounds: kernel halves, line 39, block", {"loads 2 bytes"});
  const auto half = bench.array(std::vector<short>{0, 1, 2, 1, 3});
  bench.run("halves", 1, 64, a, b, half, 5LL);
  check_found(bench, "out of bounds: kernel halves, line 39, block", {"loads 8 bytes", "of a"});
}

TEST_CASE("cuda-sim check: operations that touch the same bytes must be ordered") {
  ONDULA_NEEDS_CLANG();
  bool ordered = false;
  Bench bench(text, Mode::check, 1, [&](std::uint64_t a, std::uint64_t b) { return a < b && ordered; });
  const auto from = bench.array(std::vector<float>(102, 1.0f)),
             to = bench.array(std::vector<float>(100, 0.0f));
  bench.run("blur", 2, 64, from + 4, to, 100, 1);
  bench.shadow.read(from, 408, 1000, "a copy to the host", bench.findings);
  CHECK(bench.findings.empty());  // both read
  bench.shadow.read(to, 400, 1001, "a copy to the host", bench.findings);
  check_found(bench, "race: a copy to the host reads byte 0", {"kernel blur writes"});
  bench.run("in_place", 2, 64, from, 100, 0);
  REQUIRE(bench.findings.size() == 1);
  CHECK(bench.findings[0].text.find("read, and nothing orders the two") != std::string::npos);
  bench.findings.clear();
  bench.shadow.remove(to, bench.findings, 2000);
  check_found(bench, "freed while in use: the allocation of 400 bytes", {});
  ordered = true;
  bench.operation = 4000;
  bench.shadow.wrote(from, 408, 3000, "a fill", bench.findings);
  bench.run("in_place", 2, 64, from, 100, 0);
  CHECK(bench.findings.empty());
}

TEST_CASE("cuda-sim check: a product that does not fit its 32 bits is found, signed or not") {
  ONDULA_NEEDS_CLANG();
  Bench bench(text, Mode::check);
  bench.options.arithmetic = true;
  const auto to = bench.array(std::vector<float>(64, 0.0f));
  bench.run("far", 1, 32, to, 1U << 31, 1 << 26);
  CHECK(bench.findings.empty());
  bench.run("far", 1, 32, to, 1U << 31, 1 << 27);
  check_found(bench, "integer overflow: kernel far, line 44, block (0, 0, 0), thread (", {});
  // The third block's place is 2^32 elements away; in 32 bits it is the first one's.
  bench.options.blocks = {2};
  bench.run("far", 3, 32, to, 1U << 31, 1);
  check_found(bench, "integer overflow: kernel far, line 43, block (2, 0, 0)", {});
}

TEST_CASE("cuda-sim counts the sectors a launch touches, each once") {
  ONDULA_NEEDS_CLANG();
  for (const Mode mode : {Mode::fast, Mode::check}) {
    Bench bench(text, mode);
    bench.options.count_sectors = true;
    // Both begin with a sector.
    const auto from = bench.array(std::vector<float>(1032, 1.0f)),
               to = bench.array(std::vector<float>(1024, 0.0f));
    for (int launch = 1; launch <= 2; ++launch) {
      bench.run("blur", 16, 64, from + 16, to, 1024, 4);
      CHECK(bench.counters.launches == launch);
      CHECK(bench.counters.threads == 1024 * launch);
      CHECK(bench.counters.sectors_read == 129 * launch);
      CHECK(bench.counters.sectors_written == 128 * launch);
    }
    CHECK(bench.findings.empty());
  }
}

}  // namespace ondula::test
