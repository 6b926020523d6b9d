// Fused or apart, updates leave the same values: every component, every kind of face, thin and wide grids.
// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "equations/equations.hpp"
#include "tests/equations/engines.hpp"
#include "tests/runtime/jit/support.hpp"
#include "tests/support/compare.hpp"

namespace ondula::test {
namespace {

using passes::Fusion;

/// Two faces of one axis, with the cells of their layers.
struct Ends {
  FaceKind low = FaceKind::absorbing, high = FaceKind::absorbing;
  std::int64_t low_width = 0, high_width = 0;
};

EngineCase solid_case(const std::vector<std::int64_t>& shape, const std::vector<Ends>& ends, int order) {
  ir::Domain domain = layered(shape, 0);
  for (std::size_t a = 0; a < shape.size(); ++a) {
    const Ends& e = ends[a % ends.size()];
    domain.faces[a] = {e.low, e.high};
    domain.pad[a] = {e.low_width, e.high_width};
  }
  EngineCase c = elastic_case(domain, order);
  c.steps = 24;
  c.dtype = DType::float32;
  return c;
}

const Ends layers{FaceKind::absorbing, FaceKind::absorbing, 5, 3};
const Ends wide_layers{FaceKind::absorbing, FaceKind::absorbing, 9, 20};
const Ends one_layer{FaceKind::absorbing, FaceKind::rigid, 4, 0};
const Ends surface{FaceKind::free_surface, FaceKind::absorbing, 0, 6};
const Ends surfaces{FaceKind::free_surface, FaceKind::free_surface, 0, 0};
const Ends walls{FaceKind::rigid, FaceKind::rigid, 0, 0};
const Ends around{FaceKind::periodic, FaceKind::periodic, 0, 0};
const Ends odd{FaceKind::antisymmetric, FaceKind::antisymmetric, 0, 0};

/// Values compare equal: 0 and -0 do too, which a strip's added zeros may exchange.
void check_same(const EquationDefinition& equation, EngineCase c) {
  c.fusion = Fusion::points;
  const auto apart = host_fields(equation, c, 1);
  for (const Fusion fusion : {Fusion::loads, Fusion::statement}) {
    c.fusion = fusion;
    for (const auto& [name, values] : host_fields(equation, c, 2)) {
      CAPTURE(name);
      CHECK(max_abs(values) > 0);
      CHECK(values == apart.at(name));
    }
  }
}

}  // namespace

TEST_CASE("fused or apart, elastic in 2-D gives the same values at every kind of face") {
  ONDULA_NEEDS_CLANG();
  for (const auto& ends : std::vector<std::vector<Ends>>{{layers},
                                                         {wide_layers, layers},
                                                         {one_layer, surface},
                                                         {surface, layers},
                                                         {surfaces},
                                                         {walls, around},
                                                         {around, layers},
                                                         {odd},
                                                         {layers, odd}}) {
    check_same(equations::elastic(), solid_case({23, 60}, ends, 4));
    check_same(equations::elastic(), solid_case({9, 7}, ends, 4));
  }
  // The interior is narrower than the stencil reaches.
  for (const auto& ends : std::vector<std::vector<Ends>>{{layers}, {one_layer}, {surface, wide_layers}})
    check_same(equations::elastic(), solid_case({3, 4}, ends, 4));
}

TEST_CASE("fused or apart, elastic in 1-D and 3-D gives the same values") {
  ONDULA_NEEDS_CLANG();
  for (const Ends& ends : {layers, surface, walls, odd})
    check_same(equations::elastic(), solid_case({40}, {ends}, 4));
  for (const auto& ends : std::vector<std::vector<Ends>>{{layers, one_layer, wide_layers},
                                                         {surface, layers, layers},
                                                         {walls, surface, around},
                                                         {layers, odd, surfaces}})
    check_same(equations::elastic(), solid_case({12, 9, 37}, ends, 2));
}

}  // namespace ondula::test
