// The launch planner on very long, thin and large grids, and the arithmetic of the text that it plans for.
// SPDX-License-Identifier: MIT
#include "compiler/emit/cuda_launch.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <regex>

#include "compiler/emit/cuda_text.hpp"
#include "compiler/error.hpp"
#include "compiler/passes/cuda_schedule.hpp"
#include "compiler/passes/pipeline.hpp"
#include "equations/equations.hpp"
#include "runtime/jit/clang_library.hpp"
#include "runtime/jit/cpu.hpp"
#include "runtime/jit/host_options.hpp"
#include "tests/compiler/emit/cuda_on_host.hpp"
#include "tests/equations/engines.hpp"
#include "tests/runtime/jit/support.hpp"

namespace ondula::test {
namespace {

using Shape = std::vector<std::int64_t>;
constexpr std::int64_t two31 = std::int64_t{1} << 31, two32 = std::int64_t{1} << 32;

passes::PipelineOptions options_of(int dims, int order) {
  return {.axes = default_axes(dims), .order = order, .target = passes::Target::cuda};
}

ir::CudaProgram forward(const EquationDefinition& equation, int dims, const ir::CudaTarget& target) {
  return passes::cuda_schedule(passes::compile(equation, options_of(dims, 4)).kernels, target);
}

ir::CudaProgram adjoint(const EquationDefinition& equation, int dims, const ir::CudaTarget& target) {
  return passes::cuda_schedule(passes::compile_adjoint(equation, options_of(dims, 4)).backward.kernels,
                               target);
}

std::int64_t bound(const ir::CudaProgram& program, const ir::CudaKernel& kernel, const ir::Domain& domain,
                   ir::CudaArgument::Kind kind, int axis, int end) {
  ir::CudaArgument argument;
  argument.kind = kind;
  argument.axis = axis;
  argument.end = argument.side = end;
  return emit::cuda_bound(program, kernel, argument, domain);
}

/// `blocks` of `each` cells, with steps of the loop around them, run over all of `cells` and none of them
/// twice.
void check_axis(std::int64_t cells, std::int64_t blocks, std::int64_t each, bool folded) {
  CAPTURE(cells);
  CAPTURE(blocks);
  CHECK(blocks >= 1);
  const std::int64_t step = blocks * each;
  CHECK(step > 0);
  CHECK(step <= std::numeric_limits<std::int32_t>::max());
  if (!folded) CHECK(step >= cells);
  CHECK((blocks - 1) * each < std::max<std::int64_t>(cells, 1));  // the last block has something to do
}

void check_launch(const ir::CudaProgram& program, const ir::CudaKernel& kernel, const ir::Domain& domain) {
  using Kind = ir::CudaArgument::Kind;
  const emit::CudaLaunch launch = emit::cuda_launch(program, kernel, domain, 132);
  CAPTURE(kernel.name);
  CAPTURE(fmt::format("{}", fmt::join(launch.grid, " x ")));
  REQUIRE(!launch.empty());
  CHECK(launch.grid[0] <= 0x7fffffffU);
  CHECK((launch.grid[1] >= 1 && launch.grid[1] <= 65535));
  CHECK((launch.grid[2] >= 1 && launch.grid[2] <= 65535));
  CHECK(launch.block[0] * launch.block[1] * launch.block[2] <= 1024);
  const auto cells = [&](int axis) {
    const std::int64_t begin = bound(program, kernel, domain, Kind::box, axis, 0);
    const std::int64_t all = bound(program, kernel, domain, Kind::box, axis, 1) - begin;
    if (kernel.strip_axis == axis)
      return all - (bound(program, kernel, domain, Kind::close, axis, 1) -
                    bound(program, kernel, domain, Kind::close, axis, 0));
    const bool whole_lines = kernel.aligned && axis + 1 == domain.dims;
    return all + (whole_lines ? begin & (ir::CudaKernel::line - 1) : 0);
  };
  const int inner = domain.dims - 1;
  const std::int64_t tiles = inner == 2 ? kernel.rows_per_strip : 1;
  CHECK(launch.grid[0] % tiles == 0);
  // Along x nothing is folded, so the product may pass 2^31: it is computed in 64 bits.
  const std::int64_t columns = launch.grid[0] / tiles;
  CHECK(columns * launch.block[0] >= cells(inner));
  CHECK((columns - 1) * launch.block[0] < cells(inner));
  if (inner == 1) check_axis(cells(0), launch.grid[1], launch.block[1], launch.grid[1] == 65535);
  if (inner == 2) {
    check_axis(cells(1), launch.grid[2], tiles * launch.block[1], launch.grid[2] == 65535);
    if (kernel.march) {
      CHECK(launch.planes >= 1);
      CHECK(launch.planes * launch.grid[1] >= cells(0));
      CHECK(launch.planes * (launch.grid[1] - 1) < cells(0));
    } else {
      check_axis(cells(0), launch.grid[1], 1, launch.grid[1] == 65535);
    }
  }
}

void check_shape(const EquationDefinition& equation, const Shape& shape) {
  CAPTURE(equation.name());
  CAPTURE(fmt::format("{}", fmt::join(shape, " x ")));
  const ir::Domain domain = layered(shape, 4);
  for (const int sm : {80, 90}) {
    const ir::CudaTarget target{sm, 4, 64};
    for (const ir::CudaProgram& program :
         {forward(equation, domain.dims, target), adjoint(equation, domain.dims, target)})
      for (const ir::CudaKernel& kernel : program.kernels) check_launch(program, kernel, domain);
  }
}

std::size_t hits(const std::string& text, const std::string& pattern) {
  const std::regex expression(pattern);
  return static_cast<std::size_t>(
      std::distance(std::sregex_iterator(text.begin(), text.end(), expression), std::sregex_iterator()));
}

/// What Clang says of the text with all warnings about conversions.
std::string conversion_warnings(const std::string& text) {
  const std::string name = "kernels.cu";
  std::vector<std::string> arguments = jit::host_arguments(jit::host_cpu(), {"-O0"}, name);
  arguments.insert(arguments.begin(),
                   {"-Wconversion", "-Wshorten-64-to-32", "-Wimplicit-int-float-conversion"});
  return jit::ClangLibrary().compile(name, std::string(cuda_stand_in) + text, arguments).log;
}

}  // namespace

TEST_CASE(
    "B5: launches of 600,000 x 8 and 8 x 600,000 points, and past every axis of the hardware, cover each "
    "cell") {
  for (const EquationDefinition& equation : equations::all()) {
    for (const Shape& shape : {Shape{600'000, 8}, Shape{8, 600'000}}) check_shape(equation, shape);
  }
  for (const Shape& shape : {Shape{100'000, 4, 4}, Shape{4, 5'000'000, 4}, Shape{4, 4, 3'000'000},
                             Shape{3, 2, 1}, Shape{70'000, 5'000'000, 40}})
    check_shape(equations::acoustic(), shape);
}

TEST_CASE("B1, B3, B6: launches of 1295^3, 2^32 - 128, 2^32 and more points have positive steps and planes") {
  for (const Shape& shape :
       {Shape{1295, 1295, 1295}, Shape{1300, 1300, 1300}, Shape{two32 - 128}, Shape{two32}, Shape{two32 + 8},
        Shape{65536, 65536 - 2}, Shape{65536, 65536}, Shape{1 << 11, 1 << 10, 1 << 11}, Shape{two31, 2}})
    check_shape(equations::acoustic(), shape);
  check_shape(equations::acoustic_density(), {1295, 1295, 1295});
  check_shape(equations::elastic(), {1295, 1295, 1295});
}

TEST_CASE("B6: a line beyond what a launch counts is refused with the most points there can be") {
  const ir::CudaProgram line = forward(equations::acoustic(), 1, {80, 4, 64});
  CHECK_THROWS_WITH_AS(emit::cuda_launch(line, line.kernels.back(), layered({std::int64_t{1} << 42}, 0), 1),
                       doctest::Contains("points along the innermost axis"), UserError);
  const std::int64_t most = (two31 - 1) * line.kernels.back().block[0];
  CHECK(emit::cuda_launch(line, line.kernels.back(), layered({most}, 0), 1).grid[0] == 0x7fffffffU);
  CHECK_THROWS_AS(emit::cuda_launch(line, line.kernels.back(), layered({most + 1}, 0), 1), UserError);
}

TEST_CASE("B4: 32-bit indices are chosen where the last element and the last thread fit, and nowhere else") {
  const ir::Domain small = layered({64, 64, 64}, 10);
  CHECK(emit::cuda_index_bits(small, 0) == 32);
  CHECK(emit::cuda_index_bits(small, two31 - 1) == 32);
  for (const std::int64_t largest : {two31, two32 - 128, two32, two32 + 8})
    CHECK(emit::cuda_index_bits(small, largest) == 64);
  // Threads beyond the end of an axis count further than its cells.
  for (int axis = 0; axis < 3; ++axis) {
    Shape shape = {4, 4, 4};
    shape[static_cast<std::size_t>(axis)] = two31 - 100;
    CHECK(emit::cuda_index_bits(layered(shape, 0), 1 << 20) == 64);
    shape[static_cast<std::size_t>(axis)] = two31 - (1 << 23);
    CHECK(emit::cuda_index_bits(layered(shape, 0), 1 << 20) == 32);
  }
}

TEST_CASE("B1, B3: CUDA text widens every number of a block or thread before it multiplies it") {
  for (const EquationDefinition& equation : equations::all()) {
    for (int dims = 1; dims <= 3; ++dims) {
      for (const int sm : {80, 90}) {
        CAPTURE(equation.name());
        CAPTURE(dims);
        const std::string text =
            std::regex_replace(emit::cuda_text(forward(equation, dims, {sm, 4, 64}), emit::Real::float32),
                               std::regex("//[^\n]*"), "");
        const std::string number = R"((blockIdx|threadIdx|blockDim|gridDim)\.[xyz])";
        CHECK(hits(text, number) > 0);
        // "(index)blockIdx.z * 64", "(long long)blockIdx.x * blockDim.x", "(index)(blockIdx.x / 8) * 32".
        CHECK(hits(text, number + R"( \*)") == hits(text, R"(\((index|long long)\))" + number + R"( \*)"));
        CHECK(hits(text, R"(\* )" + number) == hits(text, R"(\(long long\))" + number + R"( \* )" + number));
        CHECK(hits(text, R"(\()" + number + R"( [^)]*\) \*)") ==
              hits(text, R"(\((index|long long)\)\()" + number + R"( [/%] [0-9]+\) \*)"));
        CHECK(hits(text, number + " <<|<< " + number) == 0);
      }
    }
  }
}

TEST_CASE("B3: CUDA text of both widths and types compiles without a warning about conversions") {
  ONDULA_NEEDS_CLANG();
  CHECK(conversion_warnings("long long f(unsigned a) { int b = a; return b; }").find("-Wsign-conversion") !=
        std::string::npos);
  for (const EquationDefinition& equation : equations::all()) {
    for (const int dims : {2, 3}) {
      CAPTURE(equation.name());
      CAPTURE(dims);
      const bool wide = dims == 2;
      CHECK(conversion_warnings(emit::cuda_text(forward(equation, dims, {90, 4, wide ? 64 : 32}),
                                                emit::Real::float32)) == "");
      CHECK(conversion_warnings(emit::cuda_text(adjoint(equation, dims, {80, 8, wide ? 32 : 64}),
                                                emit::Real::float64)) == "");
    }
  }
}

}  // namespace ondula::test
