// adjoint_variables: how each equation's adjoints are kept, and why.
// SPDX-License-Identifier: MIT
#include "compiler/passes/adjoint_variables.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tests/compiler/passes/stages.hpp"

namespace ondula::test {
namespace {

using passes::AdjointVariables;
using passes::Kept;

AdjointVariables variables(const ir::Program& program, bool unscaled = false) {
  return passes::choose_variables(program, passes::uses(program), unscaled);
}

}  // namespace

EQUATION(moduli, "elastic waves whose moduli are the author's own parameters") {
  auto lambda = parameter("lambda", "Pa", nonnegative), mu = parameter("mu", "Pa", nonnegative);
  auto rho = parameter("rho", "kg/m^3", positive);
  auto v = vector("v", "m/s");
  auto s = symmetric_tensor("s", "Pa");
  evolve(dt(v) = (div(s) + force(v)) / rho);
  evolve(dt(s) = lambda * trace(grad(v)) * identity() + 2 * mu * sym(grad(v)) - moment_rate(s));
}

TEST_CASE("adjoint variables: the acoustic adjoint obeys the forward step") {
  for (int dims = 1; dims <= 3; ++dims) {
    for (const bool unscaled : {false, true}) {  // vp is positive: it makes no difference
      const AdjointVariables found = variables(absorbed_program(equations::acoustic(), dims, 8), unscaled);
      CHECK(found.decisions ==
            std::vector<std::string>{"adjoint of u: kept times dt*dt*vp*vp, which is positive"});
      CHECK(found.states.at("u").kept == Kept::scaled);
      for (const auto& [cotangent, represented] : found.cotangents) {
        CHECK(represented.field == "u");
        CHECK_FALSE(represented.product);
      }
    }
  }
}

TEST_CASE("adjoint variables: variable density is kept times its coefficient too") {
  const AdjointVariables found = variables(absorbed_program(equations::acoustic_density(), 2, 8));
  REQUIRE(found.decisions.size() == 1);
  CHECK(found.decisions[0] == "adjoint of u: kept times dt*dt*rho*vp*vp, which is positive");
}

TEST_CASE(
    "adjoint variables: elastic ones are kept times their law, products only where mu = 0 must be told "
    "apart") {
  const ir::Program program = absorbed_program(equations::elastic(), 3, 8);
  const AdjointVariables scaled = variables(program);
  for (const char* diagonal : {"s.zz", "s.yy", "s.xx"}) {
    const passes::AdjointState& state = scaled.states.at(diagonal);
    CHECK(state.kept == Kept::law);
    CHECK(state.group == std::vector<std::string>{"s.zz", "s.yy", "s.xx"});
    CHECK(state.sign == -scaled.states.at("v.z").sign);
  }
  for (const char* other : {"v.z", "v.y", "v.x", "s.zy", "s.zx", "s.yx"})
    CHECK(scaled.states.at(other).kept == Kept::scaled);
  for (const auto& [cotangent, represented] : scaled.cotangents) CHECK_FALSE(represented.product);
  const AdjointVariables unscaled = variables(program, true);
  for (const char* stress : {"s.zz", "s.yy", "s.xx", "s.zy", "s.zx", "s.yx"})
    CHECK(unscaled.states.at(stress).kept == Kept::plain);
  CHECK(unscaled.states.at("v.z").kept == Kept::scaled);
  std::size_t products = 0;
  for (const auto& [cotangent, represented] : unscaled.cotangents) products += represented.product ? 1 : 0;
  CHECK(products == 6);
}

TEST_CASE("adjoint variables: where mu itself is the parameter, products, and the decisions say so") {
  const AdjointVariables found = variables(absorbed_program(moduli(), 2, 4));
  INFO(fmt::format("{}", fmt::join(found.decisions, "\n")));
  CHECK(
      found.decisions ==
      std::vector<std::string>{
          "adjoint of v.z: kept times dt*mean[1/2,0](1/rho), which is positive",
          "adjoint of v.x: kept times dt*mean[0,1/2](1/rho), which is positive",
          "adjoints of s.zz, s.xx: kept as they are; 2 products of them are stored for their readers",
          "adjoint of s.zx: kept as it is; its product with dt*mean[1/2,1/2](mu) is stored for its readers"});
  for (const char* stress : {"s.zz", "s.zx", "s.xx"}) CHECK(found.states.at(stress).kept == Kept::plain);
}

}  // namespace ondula::test
