// Generated CUDA text: header-free, typed, deterministic; arguments, launches and figures beside it.
// SPDX-License-Identifier: MIT
#include "compiler/emit/cuda_text.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>

#include "compiler/emit/cuda_launch.hpp"
#include "compiler/emit/cuda_manifest.hpp"
#include "compiler/error.hpp"
#include "compiler/passes/cuda_schedule.hpp"
#include "compiler/passes/pipeline.hpp"
#include "equations/equations.hpp"
#include "tests/equations/engines.hpp"

namespace ondula::test {
namespace {

ir::CudaProgram program_of(const EquationDefinition& equation, int dims, int order,
                           const ir::CudaTarget& target) {
  return passes::cuda_schedule(
      passes::compile(equation, {.axes = default_axes(dims), .order = order, .target = passes::Target::cuda})
          .kernels,
      target);
}

std::string text_of(const EquationDefinition& equation, int dims, const ir::CudaTarget& target) {
  return emit::cuda_text(program_of(equation, dims, 8, target),
                         target.element_bytes == 4 ? emit::Real::float32 : emit::Real::float64);
}

std::string code(const std::string& text) { return std::regex_replace(text, std::regex("//[^\n]*"), ""); }

/// The equation's own kernels, without those every program has.
std::string own(const std::string& text) { return code(text.substr(0, text.find("// Entries beyond"))); }

std::size_t hits(const std::string& text, const std::string& pattern) {
  const std::regex expression(pattern);
  return static_cast<std::size_t>(
      std::distance(std::sregex_iterator(text.begin(), text.end(), expression), std::sregex_iterator()));
}

template <class F>
void for_each_text(const F& f) {
  for (const EquationDefinition& equation : equations::all()) {
    for (int dims = 1; dims <= 3; ++dims) {
      for (const int sm : {80, 90}) {
        CAPTURE(equation.name());
        CAPTURE(dims);
        CAPTURE(sm);
        f(equation, dims, sm);
      }
    }
  }
}

/// terms[begin] + ... + terms[end - 1], as a balanced tree.
ir::Expr summed(ir::Pool& pool, const std::vector<ir::Expr>& terms, std::size_t begin, std::size_t end) {
  if (end - begin == 1) return terms[begin];
  const std::size_t middle = (begin + end) / 2;
  return pool.function("add", {summed(pool, terms, begin, middle), summed(pool, terms, middle, end)});
}

/// The interior kernels' DRAM bytes per point, all sweeps together.
double dram_bytes(const EquationDefinition& equation, int dims, int sm) {
  double bytes = 0;
  for (const ir::CudaKernel& kernel : program_of(equation, dims, 8, {sm, 4, 32}).kernels) {
    if (kernel.strip_axis < 0) bytes += kernel.figures.dram_bytes;
  }
  return bytes;
}

}  // namespace

TEST_CASE("cuda text: no include, no constant memory, no barrier, no atomic") {
  for_each_text([](const EquationDefinition& equation, int dims, int sm) {
    const std::string text = code(text_of(equation, dims, {sm, 4, 32}));
    CHECK(hits(text, R"(#\s*include)") == 0);
    CHECK(hits(text, "__constant__|__shared__|__sync|atomic") == 0);
    CHECK(hits(text, "extern \"C\" __global__") == 1);  // the macro every kernel starts with
  });
}

TEST_CASE("F3: CUDA text holds no literal of the other type") {
  for_each_text([](const EquationDefinition& equation, int dims, int sm) {
    const std::string doubles = own(text_of(equation, dims, {sm, 8, 32}));
    CHECK(hits(doubles, R"(\bfloat\b)") == 0);
    CHECK(hits(doubles, R"([0-9.]f\b)") == 0);
    CHECK(hits(doubles, R"(#define fma __fma_rn\b)") == 1);
    const std::string floats = own(text_of(equation, dims, {sm, 4, 32}));
    CHECK(hits(floats, R"(\bdouble\b)") == 0);
    CHECK(hits(floats, R"([^\w.][0-9]+\.[0-9]+(e[+-]?[0-9]+)?(?![0-9f]))") == 0);
    CHECK(hits(floats, R"(#define fma __fmaf_rn\b)") == 1);
  });
}

TEST_CASE("F6: CUDA text is the same bytes again, without a path or an address") {
  for_each_text([](const EquationDefinition& equation, int dims, int sm) {
    const std::string text = text_of(equation, dims, {sm, 4, 32});
    CHECK(text == text_of(equation, dims, {sm, 4, 32}));
    CHECK(text.find(ONDULA_TESTS_DIR) == std::string::npos);
    CHECK(hits(text, R"([\w.]+/(equations|tests)/)") == 0);
  });
}

TEST_CASE("cuda text: the author's names, equation and lines; grid, step and spacing are arguments") {
  const std::string text = text_of(equations::elastic(), 2, {80, 4, 32});
  CHECK(text.starts_with(
      "// elastic, forward, axes z x, order 8, float32, for sm_80.\n// Isotropic velocity-"));
  CHECK(hits(text, R"(// elastic\.cpp:[0-9]+: v\.z\n)") >= 1);
  CHECK(hits(text, R"(real\* __restrict__ s_zx)") >= 1);
  CHECK(hits(code(text), R"(\bdt\b|\bh_[zyx]\b)") == 0);
}

TEST_CASE("B1, B4: indices are 64 bits wide unless every element is proven to lie below 2^31") {
  const std::string wide = own(text_of(equations::elastic(), 3, {90, 4, 64}));
  CHECK(hits(wide, "using index = long long;") == 1);
  CHECK(hits(wide, R"(\bint\b)") == hits(wide, R"(for \(int side = 0; side < 2; \+\+side\))"));
  CHECK(hits(own(text_of(equations::elastic(), 3, {90, 4, 32})), "using index = int;") == 1);
  const ir::Domain small = layered({64, 64, 64}, 10);
  CHECK(emit::cuda_index_bits(small, 1 << 20) == 32);
  CHECK(emit::cuda_index_bits(small, (std::int64_t{1} << 31) - 1) == 32);
  CHECK(emit::cuda_index_bits(small, std::int64_t{1} << 31) == 64);
  CHECK(emit::cuda_index_bits(layered({(std::int64_t{1} << 31) - 10}, 0), 1 << 20) == 64);
}

TEST_CASE("cuda: without layers a kernel of memory variables is not launched") {
  const ir::CudaProgram program = program_of(equations::acoustic(), 3, 8, {80, 4, 32});
  REQUIRE(program.kernels.size() == 4);
  for (const ir::CudaKernel& kernel : program.kernels) {
    const bool empty = emit::cuda_launch(program, kernel, layered({20, 20, 20}, 0), 1).empty();
    CHECK(empty == (kernel.strip_axis >= 0));
  }
}

TEST_CASE("cuda: fields that share a range of live entries share it on every kind of face") {
  using enum FaceKind;
  for_each_text([](const EquationDefinition& equation, int dims, int sm) {
    const ir::CudaProgram program = program_of(equation, dims, 8, {sm, 4, 32});
    for (const auto& faces : {std::array{absorbing, absorbing},
                              {free_surface, absorbing},
                              {absorbing, free_surface},
                              {rigid, rigid},
                              {periodic, periodic},
                              {antisymmetric, antisymmetric}}) {
      ir::Domain domain = layered({12, 12, 12}, 0);
      domain.dims = dims;
      for (auto& pair : domain.faces) pair = faces;
      for (const ir::CudaKernel& kernel : program.kernels) {
        for (const ir::CudaStore& store : kernel.stores) {
          const auto& arrays = program.set.kernels[static_cast<std::size_t>(kernel.sweep)].arrays;
          const auto array = std::find_if(arrays.begin(), arrays.end(),
                                          [&](const auto& a) { return a.local == store.array; });
          REQUIRE(array != arrays.end());
          REQUIRE(static_cast<int>(store.guards.size()) == dims);
          for (int axis = 0; axis < dims; ++axis) {
            const ir::CudaRange& range =
                kernel.ranges[static_cast<std::size_t>(store.guards[static_cast<std::size_t>(axis)])];
            CHECK(range.axis == axis);
            const ir::Range own = domain.live(program.set.program.field(array->name), axis);
            const ir::Range shared = domain.live(program.set.program.field(range.field), axis);
            CHECK(own.lo == shared.lo);
            CHECK(own.hi == shared.hi);
          }
        }
      }
    }
  });
}

TEST_CASE("cuda manifest: predicted DRAM bytes of interior kernels are the least") {
  for (const int sm : {80, 90}) {
    CHECK(dram_bytes(equations::acoustic(), 2, sm) == 16);
    CHECK(dram_bytes(equations::acoustic(), 3, sm) == 16);
    CHECK(dram_bytes(equations::acoustic_density(), 3, sm) == 20);
    CHECK(dram_bytes(equations::elastic(), 2, sm) == 72);
    CHECK(dram_bytes(equations::elastic(), 3, sm) == 120);
  }
}

TEST_CASE("cuda manifest: marching keeps the slow axis out of L2, and the figures are those of the text") {
  const auto main_kernel = [](int sm) {
    const ir::CudaProgram program = program_of(equations::acoustic(), 3, 8, {sm, 4, 32});
    return nlohmann::json::parse(emit::cuda_manifest(program))["kernels"].back();
  };
  const nlohmann::json plain = main_kernel(80), march = main_kernel(90);
  CHECK(plain["schedule"] == "plain");
  CHECK(march["schedule"] == "march");
  CHECK(plain["threads"] == nlohmann::json({32, 8}));
  CHECK(march["threads"] == nlohmann::json({32, 16}));
  CHECK(march["min_blocks"] == 2);
  CHECK(plain["per_point"]["loads"] == 27);  // 25 taps, the step before, the coefficient
  CHECK(march["per_point"]["loads"] == 19);  // the queue loads one of the nine planes
  CHECK(plain["per_point"]["l2_bytes"] == 54);
  CHECK(march["per_point"]["l2_bytes"] == 24);
  std::set<std::string> names;
  for (const auto& argument : march["arguments"]) CHECK(names.insert(argument["name"]).second);
  CHECK(names.contains("planes"));
  CHECK(names.contains("u_next"));
}

TEST_CASE("F9: 20,000 coefficients come as an array, where a few hundred are arguments") {
  for (const int count : {100, 20'000}) {
    ir::KernelSet set = program_of(equations::acoustic(), 1, 2, {80, 4, 32}).set;
    ir::Kernel& kernel = set.kernels.back();
    ir::Pool& pool = *set.program.pool;
    std::vector<ir::Expr> terms;
    for (int i = 0; i < count; ++i) {
      const std::string name = fmt::format("w{}", 1000 + i);
      set.program.scalars.push_back({name, pool.constant(i)});
      kernel.scalars.push_back(name);
      terms.push_back(pool.function("mul", {pool.symbol(name), pool.field("u", 0)}));
    }
    for (ir::Piece& piece : kernel.pieces) {
      if (piece.region.kind == ir::RegionKind::live)
        piece.stores[0].value = summed(pool, terms, 0, terms.size());
    }
    const ir::CudaTarget target{80, 4, 32};
    const std::string text = own(emit::cuda_text(passes::cuda_schedule(set, target), emit::Real::float32));
    const bool many = count > 1000;
    CHECK(hits(text, R"(const real\* __restrict__ scalars\))") == (many ? 1 : 0));
    CHECK((text.find("const real w1099 = scalars[") != std::string::npos) == many);
    CHECK((text.find("const real w1099)") != std::string::npos) != many);
    CHECK(text.find("__constant__") == std::string::npos);
  }
}

TEST_CASE("cuda: an architecture too old is refused with the range") {
  CHECK_THROWS_WITH_AS(program_of(equations::acoustic(), 2, 8, {21, 4, 32}),
                       doctest::Contains("sm_21: CUDA text is made for sm_50 and newer"), UserError);
}

}  // namespace ondula::test
