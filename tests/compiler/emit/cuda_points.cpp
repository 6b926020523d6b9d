// The CUDA kernels every program has: halo images, injection, sampling, magnitude, against the host's own.
// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "compiler/passes/cuda_schedule.hpp"
#include "compiler/passes/pipeline.hpp"
#include "equations/equations.hpp"
#include "runtime/device/device.hpp"
#include "tests/compiler/emit/cuda_on_host.hpp"
#include "tests/runtime/jit/support.hpp"

namespace ondula::test {
namespace {

/// These kernels behind functions that run every block and thread.
std::shared_ptr<const jit::HostModule> compiled_points() {
  const ir::CudaProgram program = passes::cuda_schedule(
      passes::compile(equations::acoustic(), {.axes = {"x"}, .order = 2, .target = passes::Target::cuda})
          .kernels,
      {80, 4, 32});
  const std::string text = std::string(cuda_stand_in) + emit::cuda_text(program, emit::Real::float32) + R"(
extern "C" void halo(float* field, const long long* to, const long long* from, const float* sign, int images,
                     const long long* n) {
  gridDim = {2u, 2u, 1u};
  blockDim = {16u, 1u, 1u};
  ONDULA_EACH(0, 4u, ondula_halo(field, to, from, sign, images, n[0], n[1], n[2], n[3], n[4], n[5], 0))
}
extern "C" void inject(float* field, const long long* cells, const long long* first, const float* weight,
                       const int* source, const float* samples, const float* times, const long long* clock,
                       const long long* n) {
  gridDim = {2u, 1u, 1u};
  blockDim = {4u, 1u, 1u};
  ONDULA_EACH(1, 2u, ondula_inject(field, cells, first, weight, source, samples, times, clock, n[0], n[1], n[2]))
}
extern "C" void sample(const float* field, const long long* cells, const long long* first, const double* weight,
                       const long long* place, double* record, const long long* clock, const long long* n) {
  gridDim = {2u, 1u, 1u};
  blockDim = {4u, 1u, 1u};
  ONDULA_EACH(1, 2u, ondula_sample(field, cells, first, weight, place, record, clock, n[0], n[1], n[2]))
}
extern "C" void set_clock(long long* clock, const long long* n) {
  gridDim = {1u, 1u, 1u};
  blockDim = {32u, 1u, 1u};
  ONDULA_EACH(0, 1u, ondula_clock(clock, n[0], n[1], n[2], n[3]))
}
extern "C" void magnitude(const float* field, long long count, float* largest) {
  gridDim = {2u, 1u, 1u};
  blockDim = {8u, 1u, 1u};
  ONDULA_EACH(0, 2u, ondula_magnitude(field, count, largest, 0, 0))
}
)";
  jit::HostCompiler compiler;
  return compiler.compile({text, "points", {"-O1"}, ""});
}

template <class F>
F* function(const jit::HostModule& module, const char* name) {
  return reinterpret_cast<F*>(module.symbol(name));
}

using Longs = std::vector<long long>;
using Floats = std::vector<float>;

}  // namespace

TEST_CASE(
    "A21: cuda points, sources of one cell add in their order, with the host's bits; none after the last "
    "step") {
  ONDULA_NEEDS_CLANG();
  const auto module = compiled_points();
  auto* const inject =
      function<void(float*, const long long*, const long long*, const float*, const int*, const float*,
                    const float*, const long long*, const long long*)>(*module, "inject");
  auto* const set_clock = function<void(long long*, const long long*)>(*module, "set_clock");
  // Three sources; cell 5 gets taps of all of them, cells 2 and 9 of one; two places are empty.
  const Longs cells = {5, 2, 9, 5, 0}, first = {0, 3, 4, 5, 5, 5};
  const Floats weight = {0.3f, -0.7f, 1e-3f, 2.5f, 0.1f};
  const std::vector<int> source = {0, 1, 2, 0, 2};
  const Floats samples = {1, 2, 3, 0.1f, 1e7f, -3};  // of steps 6 and 7, which is the last
  Longs clock(4);
  set_clock(clock.data(), Longs{7, 0, 1, 8}.data());
  CHECK(clock == Longs{7, 0, 1, 8});
  Floats field(12, 0.5f), expected = field;
  inject(field.data(), cells.data(), first.data(), weight.data(), source.data(), samples.data(), nullptr,
         clock.data(), Longs{0, 5, 3}.data());
  for (std::size_t c = 0; c < cells.size(); ++c) {
    for (long long t = first[c]; t < first[c + 1]; ++t) {
      const auto tap = static_cast<std::size_t>(t);
      expected[static_cast<std::size_t>(cells[c])] +=
          weight[tap] * samples[3 + static_cast<std::size_t>(source[tap])];
    }
  }
  CHECK(field == expected);
  CHECK(field[5] != 0.5f);
  inject(field.data(), cells.data(), first.data(), weight.data(), source.data(), samples.data(), nullptr,
         clock.data(), Longs{1, 5, 3}.data());
  CHECK(field == expected);
}

TEST_CASE("cuda points: what a sum along a field gains is multiplied by that field's value in the cell") {
  ONDULA_NEEDS_CLANG();
  const auto module = compiled_points();
  auto* const inject =
      function<void(float*, const long long*, const long long*, const float*, const int*, const float*,
                    const float*, const long long*, const long long*)>(*module, "inject");
  const Longs cells = {3, 1}, first = {0, 2, 3}, clock = {0, 0, 0, 1};
  const Floats weight = {0.3f, -0.7f, 1.7f}, samples = {0.1f, 11}, times = {9, 1.3f, 9, -0.6f};
  const std::vector<int> source = {0, 1, 1};
  Floats sums(4, 0.25f);
  inject(sums.data(), cells.data(), first.data(), weight.data(), source.data(), samples.data(), times.data(),
         clock.data(), Longs{0, 2, 2}.data());
  const float one = 0.3f * 0.1f, two = -0.7f * 11, three = 1.7f * 11;
  float expected = 0.25f;
  expected += one * -0.6f;
  expected += two * -0.6f;
  CHECK(sums == Floats{0.25f, 0.25f + three * 1.3f, 0.25f, expected});
}

TEST_CASE("cuda points: receivers are sampled with the host's bits, at their place in the record") {
  ONDULA_NEEDS_CLANG();
  const auto module = compiled_points();
  auto* const sample =
      function<void(const float*, const long long*, const long long*, const double*, const long long*,
                    double*, const long long*, const long long*)>(*module, "sample");
  Floats field(16);
  for (std::size_t i = 0; i < field.size(); ++i) field[i] = std::sin(0.7f * static_cast<float>(i));
  const Longs cells = {1, 2, 3, 7, 7}, first = {0, 3, 4, 5, 5}, place = {4, 0, 2, -1}, clock = {7, 1, 0, 0};
  const std::vector<double> weight = {0.25, 0.5, 0.1, 1, 1.0 / 3};
  std::vector<double> record(15, -1);
  // A row after the record's row 1, five receivers in all, of which one place is empty.
  sample(field.data(), cells.data(), first.data(), weight.data(), place.data(), record.data(), clock.data(),
         Longs{1, 4, 5}.data());
  const auto device = device::make_host_device(1);
  device::Buffer buffer = device->allocate(field.size() * sizeof(float));
  device->upload(buffer, 0, field.data(), field.size() * sizeof(float));
  for (std::size_t r = 0; r < 3; ++r) {
    std::vector<device::Weighted> from;
    for (long long t = first[r]; t < first[r + 1]; ++t)
      from.push_back({cells[static_cast<std::size_t>(t)], weight[static_cast<std::size_t>(t)]});
    CHECK(record[10 + static_cast<std::size_t>(place[r])] == device->gather(buffer, DType::float32, from));
  }
  CHECK(record[9] == -1);
  CHECK(record[11] == -1);
}

TEST_CASE("cuda points: halo entries repeat entries inside, with their sign") {
  ONDULA_NEEDS_CLANG();
  const auto module = compiled_points();
  auto* const halo =
      function<void(float*, const long long*, const long long*, const float*, int, const long long*)>(*module,
                                                                                                      "halo");
  // 5 rows of 20; rows 0 and 4 mirror rows 2 (odd) and 3 (even), columns 1 to 18.
  Floats field(100);
  for (std::size_t i = 0; i < field.size(); ++i) field[i] = static_cast<float>(i);
  const Longs to = {0, 80}, from = {40, 60};
  const Floats sign = {-1, 1};
  Floats expected = field;
  for (std::size_t x = 1; x < 19; ++x) {
    expected[x] = -field[40 + x];
    expected[80 + x] = field[60 + x];
  }
  halo(field.data(), to.data(), from.data(), sign.data(), 2, Longs{1, 18, 1, 0, 1, 0}.data());
  CHECK(field == expected);
}

TEST_CASE("cuda points: the largest magnitude, and NaN where anything is not finite") {
  ONDULA_NEEDS_CLANG();
  const auto module = compiled_points();
  auto* const magnitude = function<void(const float*, long long, float*)>(*module, "magnitude");
  Floats field(1000, 0.25f), largest(16, -1.0f);
  field[777] = -3.5f;
  magnitude(field.data(), 1000, largest.data());
  CHECK(*std::max_element(largest.begin(), largest.end()) == 3.5f);
  for (const float bad : {std::nanf(""), INFINITY}) {
    field[123] = bad;
    magnitude(field.data(), 1000, largest.data());
    CHECK(std::any_of(largest.begin(), largest.end(), [](float v) { return std::isnan(v); }));
  }
}

}  // namespace ondula::test
