// Grids and arrays past 2^31 and 2^32 elements, run by the stand-in on memory of holes.
// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <new>

#include "compiler/emit/cuda_text.hpp"
#include "equations/equations.hpp"
#include "tests/equations/engines.hpp"
#include "tests/runtime/device/sim/bench.hpp"
#include "tests/runtime/device/sim/program_bench.hpp"
#include "tests/runtime/device/sim/sim_device.hpp"
#include "tests/runtime/jit/support.hpp"
#include "tests/support/skip.hpp"

namespace ondula::test {
namespace {

constexpr std::int64_t two31 = std::int64_t{1} << 31, two32 = std::int64_t{1} << 32;

/// Where the machine gives no addresses for so much that is never touched.
const char* const no_addresses = "the system reserves no addresses for memory it does not have";

struct Pitched {
  EquationDefinition equation;
  int order = 4, sm = 80;
  ir::Domain domain;
  std::int64_t pitch = 0;
};

/// Three steps with the planes far apart leave what they leave side by side, nothing found wrong.
void check_pitch(const Pitched& c) {
  CAPTURE(c.equation.name());
  CAPTURE(c.domain.dims);
  CAPTURE(c.sm);
  const auto program = [&](int bits) {
    return cuda_program(c.equation, c.domain.dims, c.order, {c.sm, 4, bits});
  };
  const ir::CudaProgram wide = program(64), narrow = program(32);
  ProgramBench near(narrow, sim_program(narrow, emit::Real::float32), c.domain);
  ProgramBench far(wide, sim_program(wide, emit::Real::float32), c.domain,
                   {.pitch = c.pitch, .mode = sim::Mode::check});
  CHECK(emit::cuda_index_bits(c.domain, near.largest()) == 32);
  CHECK(far.largest() > two32);
  CHECK(emit::cuda_index_bits(c.domain, far.largest()) == 64);
  const auto before = far.values();
  for (int n = 0; n < 3; ++n) {
    near.step();
    far.step();
  }
  const auto after = far.values();
  const auto expected = near.values();
  for (const auto& [name, values] : after) {
    CAPTURE(name);
    const auto different = std::mismatch(values.begin(), values.end(), expected.at(name).begin()).first;
    CHECK(different - values.begin() == std::ssize(values));
    CHECK(values != before.at(name));
    CHECK(std::all_of(values.begin(), values.end(), [](float v) { return std::isfinite(v); }));
  }
  for (const sim::Finding& finding : far.findings) CHECK(finding.text == "");
}

/// The number of the block that holds a point, and the planes it marches through.
struct Place {
  std::uint64_t block = 0;
  std::int64_t first_plane = 0, planes = 1;
};

Place place_of(const ir::CudaKernel& kernel, const emit::CudaLaunch& launch, int dims,
               const ir::Extents& point) {
  const auto u = [](std::int64_t n) { return static_cast<std::uint64_t>(n); };
  const std::int64_t column = point[static_cast<std::size_t>(dims - 1)] / kernel.block[0];
  if (dims == 1) return {u(column)};
  const std::int64_t width = launch.grid[0], height = launch.grid[1];
  if (dims == 2) return {u(point[0] / kernel.block[1] % height * width + column), point[0]};
  const std::int64_t row = point[1] / kernel.block[1], tiles = kernel.rows_per_strip;
  const std::int64_t turn = kernel.march ? point[0] / launch.planes : point[0];
  const std::int64_t x = column * tiles + row % tiles;
  return {u((row / tiles * height + turn) * width + x), turn * launch.planes, launch.planes};
}

/// One block of acoustic's update, the one that holds `point`, on a grid of holes: only what the block reads
/// is there. Every access and every integer of it is looked at.
void check_block(const std::vector<std::int64_t>& shape, int sm, const ir::Extents& point) {
  CAPTURE(fmt::format("{}", fmt::join(shape, " x ")));
  CAPTURE(sm);
  CAPTURE(point[0]);
  const ir::Domain domain = layered(shape, 0);
  const ir::CudaProgram program = cuda_program(equations::acoustic(), domain.dims, 8, {sm, 4, 64});
  const ir::CudaKernel& kernel = program.kernels.back();
  // As many multiprocessors as make blocks march no further than they have to.
  constexpr int many = 100'000;
  const Place place = place_of(kernel, emit::cuda_launch(program, kernel, domain, many), domain.dims, point);
  ir::Box window;
  for (int axis = 0; axis < 3; ++axis) {
    const auto a = static_cast<std::size_t>(axis);
    window[a] = {0, 1};
    if (axis >= domain.dims) continue;
    const std::int64_t halo = 4, wide = axis + 1 == domain.dims ? kernel.block[0] : kernel.block[1];
    window[a] = {std::max(-halo, point[a] - wide - halo),
                 std::min(domain.total(axis), point[a] + wide) + halo};
  }
  if (domain.dims == 3)
    window[0] = {place.first_plane - 4, std::min(domain.total(0), place.first_plane + place.planes) + 4};
  ProgramBench bench(program, sim_program(program, emit::Real::float32), domain,
                     {.mode = sim::Mode::check, .window = window, .multiprocessors = many});
  CHECK(emit::cuda_index_bits(domain, bench.largest()) == 64);
  CHECK(bench.value("u", 1, point) == 0.5F);
  bench.launch(kernel, {place.block});
  // Twice now less before: the medium is at rest.
  CHECK(bench.value("u", 1, point) == 1.5F);
  for (const sim::Finding& finding : bench.findings) CHECK(finding.text == "");
}

}  // namespace

TEST_CASE(
    "B1, B4: cuda-sim: rows and planes so far apart that indices pass 2^32 leave the bits of close ones") {
  ONDULA_NEEDS_CLANG();
  try {
    check_pitch({equations::acoustic(), 8, 80, layered({13, 40}, 4), two32 / 8 + 16});
    check_pitch({equations::acoustic(), 4, 90, layered({9, 11, 34}, 4), two32 / 8 + 48});
    check_pitch({equations::elastic(), 4, 80, layered({13, 40}, 4), two32 / 8 + 16});
  } catch (const std::bad_alloc&) {
    skip(no_addresses);
  }
}

TEST_CASE("B4: cuda-sim: text of 32-bit indices where 64 are needed is found out") {
  ONDULA_NEEDS_CLANG();
  const ir::CudaProgram narrow = cuda_program(equations::acoustic(), 2, 2, {80, 4, 32});
  try {
    ProgramBench far(narrow, sim_program(narrow, emit::Real::float32), layered({13, 40}, 0),
                     {.pitch = two32 / 8 + 16, .mode = sim::Mode::check});
    far.step();
    CHECK(std::any_of(far.findings.begin(), far.findings.end(), [&](const sim::Finding& finding) {
      return finding.text.starts_with("integer overflow: kernel " + narrow.kernels.back().name);
    }));
  } catch (const std::bad_alloc&) {
    skip(no_addresses);
  }
}

TEST_CASE(
    "B1, B3, B4, B6: cuda-sim: first and last blocks of 1295^3 points, of 2^32 - 128, 2^32 and 2^32 + 8") {
  ONDULA_NEEDS_CLANG();
  try {
    for (const int sm : {80, 90}) {
      check_block({1295, 1295, 1295}, sm, {1294, 1294, 1294});
      check_block({1295, 1295, 1295}, sm, {0, 0, 0});
    }
    check_block({two32 - 128}, 80, {two32 - 129, 0, 0});
    check_block({two32}, 80, {two32 - 1, 0, 0});
    check_block({two32 + 9}, 80, {two32 + 8, 0, 0});
    check_block({1 << 16, 1 << 16}, 80, {(1 << 16) - 1, (1 << 16) - 1, 0});
  } catch (const std::bad_alloc&) {
    skip(no_addresses);
  }
}

TEST_CASE("B2: cuda-sim: 50,000 receivers write the last of 45,000 samples where it belongs") {
  ONDULA_NEEDS_CLANG();
  constexpr std::int64_t receivers = 50'000, samples = 45'000, cells = 1000;
  const ir::CudaProgram program = cuda_program(equations::acoustic(), 1, 2, {80, 4, 32});
  Bench bench(emit::cuda_text(program, emit::Real::float32), sim::Mode::check);
  bench.options.arithmetic = true;
  std::vector<float> field(cells);
  for (std::size_t i = 0; i < field.size(); ++i) field[i] = static_cast<float>(i);
  std::vector<std::int64_t> cell(receivers), first(receivers + 1), place(receivers);
  for (std::int64_t r = 0; r < receivers; ++r) {
    const auto i = static_cast<std::size_t>(r);
    cell[i] = r % cells;
    first[i] = place[i] = r;
  }
  first.back() = receivers;
  try {
    const SparseMemory record(static_cast<std::size_t>(receivers * samples) * sizeof(double));
    const auto begin = reinterpret_cast<std::uint64_t>(record.data());
    bench.shadow.add(begin, record.bytes());
    bench.run("ondula_sample", (receivers + 127) / 128, 128, bench.array(field), bench.array(cell),
              bench.array(first), bench.array(std::vector<double>(receivers, 2.0)), bench.array(place), begin,
              bench.array(std::vector<std::int64_t>{0, 40'000, 0, samples}), samples - 1 - 40'000, receivers,
              receivers);
    const double* const last = reinterpret_cast<const double*>(record.data()) + receivers * (samples - 1);
    for (const std::int64_t r : {std::int64_t{0}, std::int64_t{1}, receivers - 1})
      CHECK(last[r] == 2.0 * static_cast<double>(r % cells));
  } catch (const std::bad_alloc&) {
    skip(no_addresses);
  }
  for (const sim::Finding& finding : bench.findings) CHECK(finding.text == "");
}

}  // namespace ondula::test
