// Kernels that run a row of threads at once do what single threads do; what is not understood is left as it
// is. SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <algorithm>
#include <map>

#include "runtime/device/sim/scan.hpp"
#include "runtime/device/sim/spread.hpp"
#include "tests/runtime/device/sim/bench.hpp"
#include "tests/runtime/jit/support.hpp"

namespace ondula::test {
namespace {

// Each writes to[i] from from[], for i over a grid of n in x and m in y.
constexpr const char* text = R"(
#define KERNEL extern "C" __global__ void __launch_bounds__(128)
#define ARGUMENTS (const float* __restrict__ from, float* __restrict__ to, const int n, const int m)

KERNEL plain ARGUMENTS {
  const int x = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  if (x >= n) return;
  for (int y = (int)blockIdx.y; y < m; y += (int)gridDim.y) {
    const int i = y * n + x;
    to[i] = from[i] + from[y * n];
  }
}

KERNEL queue ARGUMENTS {
  const int x = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  if (x >= n) return;
  float q[3];
  q[0] = 0;
  q[1] = from[x];
  for (int y = 0; y < m; ++y) {
    q[2] = y + 1 < m ? from[(y + 1) * n + x] : 0;
    const float sum = q[0] + q[1] + q[2];
    float total = sum;
    if (y == 0 || x < 5) {
      total += 100;
#pragma unroll 1
      for (int side = 0; side < 2; ++side) {
        if (side == 0) continue;
        total += side + x;
      }
    }
    if (x >= n - 3) {
      total = -total;
    }
    to[y * n + x] = total;
    q[0] = q[1];
    q[1] = q[2];
  }
}

KERNEL moved ARGUMENTS {
  int x = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  if (x >= 7) x += 3;
  if (x >= n) return;
  for (int y = 0; y < m; ++y) to[y * n + x] = from[y * n + x];
}

KERNEL own_loop ARGUMENTS {
  const int x = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  if (x >= n) return;
  float sum = 0;
  for (int y = 0; y < x % m; ++y) sum += from[y * n + x];
  to[x] = sum;
}

KERNEL leaves ARGUMENTS {
  const int x = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  if (x >= n) return;
  for (int y = 0; y < m; ++y) {
    if (from[y * n + x] > 40) return;
    to[y * n + x] = 1;
  }
}

KERNEL skips ARGUMENTS {
  const int x = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  if (x >= n) return;
  for (int y = 0; y < m; ++y) {
    if (from[y * n + x] > 40) continue;
    to[y * n + x] = 1;
  }
}

KERNEL jumps_ahead ARGUMENTS {
  const int x = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  if (x >= n) return;
  for (int y = 0; y < m; ++y) {
    to[y * n + x] = 1;
    if (from[y * n + x] > 40) ++y;
  }
}

KERNEL carries ARGUMENTS {
  const int x = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  if (x >= n) return;
  float last = 0;
  for (int y = 0; y < m; ++y) {
    to[y * n + x] = last;
    last = from[y * n + x];
  }
}

#define LEAVE(condition) \
  if (condition) return
KERNEL hides ARGUMENTS {
  const int x = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  LEAVE(x >= n);
  for (int y = 0; y < m; ++y) {
    LEAVE(from[y * n + x] > 40);
    to[y * n + x] = 1;
  }
}

KERNEL other_names ARGUMENTS {
  const int x = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  if (x >= n) return;
  float a = from[x], b = 2 * a;
  for (int y = 0; y < m; ++y) to[y * n + x] = a + b * from[y * n + x];
}
)";

const std::map<std::string, bool> understood = {
    {"plain", true},  {"queue", true},    {"moved", true},  {"own_loop", false},    {"leaves", false},
    {"skips", false}, {"carries", false}, {"hides", false}, {"jumps_ahead", false}, {"other_names", true}};

std::vector<float> result(Bench& bench, const std::string& kernel, unsigned blocks, unsigned threads) {
  constexpr int n = 75, m = 6;
  std::vector<float> values(n * m);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i * 37 % 97) / 2;
  const auto from = bench.array(values), to = bench.array(std::vector<float>(n * m, -1.0f));
  bench.run(kernel, blocks, threads, from, to, n, m);
  return bench.read<float>(to, n * m);
}

}  // namespace

TEST_CASE(
    "cuda-sim rows: loops of all threads are told from those of one, and jumps and carried values noticed") {
  const sim::Scanned scanned = sim::scan(text);
  CHECK(!scanned.lanes_elsewhere);
  REQUIRE(scanned.kernels.size() == understood.size());
  for (const sim::ScannedKernel& kernel : scanned.kernels) {
    CAPTURE(kernel.name);
    const std::string body = sim::spread(scanned.text, kernel);
    CHECK(!body.empty() == understood.at(kernel.name));
    const auto lines = [](const std::string& part) { return std::count(part.begin(), part.end(), '\n'); };
    const std::string before =
        scanned.text.substr(kernel.body_begin + 1, kernel.body_end - kernel.body_begin - 1);
    if (!body.empty()) CHECK(lines(body) == lines(before));
  }
  CHECK(sim::scan(std::string(text) + "__device__ float f() { return threadIdx.x; }").lanes_elsewhere);
  CHECK(sim::scan(std::string("#define LANE threadIdx.x\n") + text).lanes_elsewhere);
}

TEST_CASE("cuda-sim rows: rows of threads leave what single threads leave, at any width of a block") {
  ONDULA_NEEDS_CLANG();
  Bench rows(text, sim::Mode::fast), shuffled(text, sim::Mode::shuffle), single(text, sim::Mode::check);
  for (const auto& [kernel, known] : understood) {
    CAPTURE(kernel);
    const std::vector<float> expected = result(single, kernel, 3, 32);
    CHECK(std::any_of(expected.begin(), expected.end(), [](float v) { return v != -1; }));
    for (const unsigned threads : {32U, 128U, 40U, 1U}) {
      CAPTURE(threads);
      CHECK(result(rows, kernel, (80 + threads - 1) / threads, threads) == expected);
    }
    CHECK(result(shuffled, kernel, 3, 32) == expected);
  }
  CHECK(single.findings.empty());
}

}  // namespace ondula::test
