// Tests of the shapes that a tuner tries.
// SPDX-License-Identifier: MIT
#include "compiler/passes/cuda_candidates.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "compiler/emit/cuda_text.hpp"
#include "compiler/error.hpp"
#include "compiler/passes/pipeline.hpp"
#include "equations/equations.hpp"

using namespace ondula;
using passes::CudaShape;

namespace {

ir::CudaProgram program(const EquationDefinition& equation, int dims, int order, const ir::CudaTarget& target,
                        const passes::CudaShapes& shapes = {}) {
  const passes::Compilation compilation =
      passes::compile(equation, {.axes = default_axes(dims), .order = order, .target = passes::Target::cuda});
  return passes::cuda_schedule(compilation.kernels, target, shapes);
}

}  // namespace

TEST_CASE("tuner: the candidates of every kernel are its own shape first, each once, fit, and not many") {
  for (const EquationDefinition& equation : equations::all()) {
    for (const int dims : {1, 2, 3}) {
      if (dims == 1 && equation.name() == "elastic") continue;
      for (const ir::CudaTarget target : {ir::CudaTarget{80, 4, 32}, ir::CudaTarget{100, 8, 64}}) {
        for (const int order : {2, 8, 16}) {
          const ir::CudaProgram own = program(equation, dims, order, target);
          for (const ir::CudaKernel& kernel : own.kernels) {
            CAPTURE(kernel.name);
            const std::vector<CudaShape> shapes = passes::cuda_candidates(own, kernel);
            REQUIRE(!shapes.empty());
            CHECK(shapes.front() == passes::shape_of(kernel));
            CHECK(!kernel.shape_given);
            if (kernel.strip_axis >= 0) {
              CHECK(shapes.size() == 1);
              continue;
            }
            CHECK(shapes.size() >= 4);
            CHECK(shapes.size() <= 16);
            for (const CudaShape& shape : shapes) {
              CHECK(std::count(shapes.begin(), shapes.end(), shape) == 1);
              CHECK(passes::cuda_shape_problem(shape, dims, false) == "");
            }
            const auto marching = std::count_if(shapes.begin(), shapes.end(),
                                                [](const CudaShape& shape) { return shape.march; });
            const bool both = marching > 1 && static_cast<std::size_t>(marching) + 1 < shapes.size();
            CHECK((dims == 3 ? both : marching == 0));
          }
        }
      }
    }
  }
}

TEST_CASE("tuner: shapes that no kernel may have are refused, by name") {
  const CudaShape plain{false, {32, 8}, 4, 8};
  CHECK(passes::cuda_shape_problem(plain, 3, false) == "");
  const auto refused = [&](auto change, int dims = 3, bool strips = false) {
    CudaShape shape = plain;
    change(shape);
    return passes::cuda_shape_problem(shape, dims, strips);
  };
  CHECK(refused([](CudaShape& s) { s.block = {16, 8}; }) == "a block of 16x8 threads");
  CHECK(refused([](CudaShape& s) { s.block = {48, 8}; }) == "a block of 48x8 threads");
  CHECK(refused([](CudaShape& s) { s.block = {32, 0}; }) == "a block of 32x0 threads");
  CHECK(refused([](CudaShape& s) { s.block = {64, 32}; }) == "a block of 64x32 threads");
  CHECK(refused([](CudaShape& s) { s.block = {2147483616, 2}; }) == "a block of 2147483616x2 threads");
  CHECK(refused([](CudaShape& s) { s.min_blocks = 5; }) == "5 blocks of 256 threads on a multiprocessor");
  CHECK(refused([](CudaShape& s) { s.min_blocks = 0; }) == "0 blocks of 256 threads on a multiprocessor");
  CHECK(refused([](CudaShape& s) { s.rows_per_strip = 9; }) == "strips of 9 blocks of 8 rows");
  CHECK(refused([](CudaShape& s) { s.rows_per_strip = 0; }) == "strips of 0 blocks of 8 rows");
  CHECK(refused([](CudaShape&) {}, 2) == "strips of 8 blocks of 8 rows");
  CHECK(refused([](CudaShape& s) { s.rows_per_strip = 1; }, 1) == "a block of 32x8 threads");
  const auto march = [](CudaShape& s) {
    s.march = true;
    s.rows_per_strip = 1;
  };
  CHECK(refused(march) == "");
  CHECK(refused(march, 2) != "");
  CHECK(refused(march, 3, true) != "");
}

TEST_CASE(
    "tuner: a shape that is given goes into the text and its argument list; the table's is the same text") {
  const ir::CudaTarget target{80, 4, 32};
  const ir::CudaProgram table = program(equations::acoustic(), 3, 4, target);
  REQUIRE(table.kernels.back().strip_axis < 0);
  const std::string& name = table.kernels.back().name;
  const std::string text = emit::cuda_text(table, emit::Real::float32);
  const CudaShape own = passes::shape_of(table.kernels.back());
  const ir::CudaProgram same = program(equations::acoustic(), 3, 4, target, {{name, own}});
  CHECK(emit::cuda_text(same, emit::Real::float32) == text);
  CHECK(same.kernels.back().shape_given);
  const CudaShape march{true, {64, 4}, 3, 2};
  const ir::CudaProgram other = program(equations::acoustic(), 3, 4, target, {{name, march}});
  CHECK(passes::shape_of(other.kernels.back()) == march);
  CHECK(emit::cuda_text(other, emit::Real::float32).find("ONDULA_KERNEL(256, 3)") != std::string::npos);
  CHECK(other.kernels.back().arguments.size() == table.kernels.back().arguments.size() + 1);  // planes
  CHECK(passes::shape_text(march) == "march 64x4, 3 blocks, strips of 2");
  CHECK_THROWS_WITH_AS(program(equations::acoustic(), 3, 4, target, {{name, {false, {32, 8}, 8, 8}}}),
                       doctest::Contains("8 blocks of 256 threads"), InternalError);
}
