// The expressions that operators of the DSL make, and what check and discretize_time do with them.
// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <algorithm>

#include "compiler/dsl/dsl.hpp"
#include "compiler/error.hpp"
#include "compiler/passes/check.hpp"
#include "compiler/passes/discretize_time.hpp"
#include "equations/equations.hpp"
#include "tests/support/messages.hpp"

namespace ondula::test {

namespace {

/// The right side of the evolution of `field`, as text.
std::string right_side(const ir::Equation& equation, const std::string& field) {
  for (const ir::Evolution& evolution : equation.evolutions) {
    if (evolution.field == field) return ir::text(evolution.rhs, equation.axes);
  }
  return "none";
}

const ir::Field& field(const ir::Equation& equation, const std::string& name) {
  return *std::find_if(equation.fields.begin(), equation.fields.end(),
                       [&](const ir::Field& f) { return f.name == name; });
}

bool lists(const ir::Program& program, const std::string& line) {
  return ir::dump(program).find("  " + line) != std::string::npos;
}

}  // namespace

EQUATION(damped, "a field that decays") {
  auto loss = parameter("loss", "1/s");
  auto u = scalar("u", "Pa");
  evolve(dt(u) = -(loss * u) + source(u));
}

TEST_CASE("dsl: one text gives every dimension its components and their places") {
  const ir::Equation one = equations::elastic().instantiate(default_axes(1));
  const ir::Equation three = equations::elastic().instantiate(default_axes(3));
  CHECK(one.fields.size() == 2);
  CHECK(three.fields.size() == 9);
  CHECK(field(three, "v.y").stagger == ir::HalfCells{0, 1, 0});
  CHECK(field(three, "s.yx").stagger == ir::HalfCells{0, 1, 1});
  CHECK(field(three, "s.xx").stagger == ir::HalfCells{0, 0, 0});
  CHECK(field(three, "s.yx").component == std::vector<int>{1, 2});
  CHECK(three.sources.size() == 9);
  CHECK(right_side(equations::acoustic().instantiate(default_axes(2)), "u") ==
        "vp*vp*(D2z(u) + D2x(u) + source(u))");
}

TEST_CASE("dsl: equations may be stated over any axis") {
  const ir::Equation equation = equations::acoustic().instantiate({"x"});
  CHECK(right_side(equation, "u") == "vp*vp*(D2x(u) + source(u))");
}

TEST_CASE("check: coefficients off their node become averages where they are used") {
  const ir::Equation checked = passes::check(equations::elastic().instantiate(default_axes(2)));
  CHECK(right_side(checked, "v.x").find("mean[0,1/2](1/rho)") == 0);
  CHECK(right_side(checked, "s.zx").find("mean[1/2,1/2](rho*vs*vs)") == 0);
  CHECK(right_side(checked, "s.zz").find("mean") == std::string::npos);
}

TEST_CASE("check: a term that lives elsewhere than its left side is told with both places") {
  ir::Equation equation{.name = "shifted", .axes = {"z"}, .pool = std::make_shared<ir::Pool>()};
  equation.fields.push_back({.name = "u", .group = "u", .unit = "Pa", .time_order = 1});
  const ir::Expr slope = equation.pool->derivative(equation.pool->field("u", 0), 0, 1, true);
  equation.evolutions.push_back({"u", 1, slope, {"shifted.cpp", 12}});
  const std::string message = refusal([&] { passes::check(equation); });
  CHECK(message.starts_with("shifted.cpp:12: equation shifted: evolution of u"));
  CHECK(holds(message, "u lives at (z), but is used at (z+1/2)"));
}

TEST_CASE("discretize_time: second order keeps two levels, first order reads the latest values") {
  const ir::Program acoustic =
      passes::discretize_time(passes::check(equations::acoustic().instantiate(default_axes(1))), 4);
  CHECK(lists(acoustic, "field u [Pa] at n, two levels"));
  CHECK(lists(acoustic, "update u' = 2*u + (-1)*u` + dt*dt*vp*vp*D2z(u)   on live"));
  const ir::Program elastic =
      passes::discretize_time(passes::check(equations::elastic().instantiate(default_axes(1))), 4);
  CHECK(lists(elastic, "field v.z [m/s] at h, half step"));
  CHECK(lists(elastic, "field s.zz [Pa] at n\n"));
  CHECK(lists(elastic, "update v.z' = v.z + dt*mean[1/2](1/rho)*D1zs(s.zz)"));
  CHECK(ir::dump(elastic).find("D1zs(v.z')") != std::string::npos);
  CHECK(lists(elastic, "inject s.zz' += (-1)*dt * source(s.zz)"));
}

TEST_CASE("discretize_time: a pointwise term in the field itself is solved semi-implicitly") {
  const ir::Program program =
      passes::discretize_time(passes::check(damped().instantiate(default_axes(1))), 4);
  CHECK_NOTHROW(ir::verify(program, "discretize_time"));
  INFO(ir::dump(program));
  CHECK(lists(program, "update u' = ((-1/2)*dt*loss + 1)*u/(1/2*dt*loss + 1)   on live"));
}

}  // namespace ondula::test
