// Functions of parameters, components and stiffness tensors: what they become, and what is refused.
// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <algorithm>

#include "compiler/dsl/dsl.hpp"
#include "compiler/error.hpp"
#include "compiler/passes/check.hpp"
#include "compiler/passes/discretize_time.hpp"
#include "tests/compiler/dsl/complaint.hpp"

namespace ondula::test {

namespace {

std::string right_side(const EquationDefinition& definition, const std::string& field, int dims) {
  const auto axes = default_axes(dims);
  const ir::Equation equation = definition.instantiate(axes);
  for (const ir::Evolution& e : equation.evolutions) {
    if (e.field == field) return ir::text(e.rhs, axes);
  }
  return "no evolution of " + field;
}

}  // namespace

EQUATION(all_functions, "each function once") {
  auto a = parameter("a", "1");
  auto w = parameter("w", "m^2/s^2");
  auto angle = uniform("angle", "rad");
  auto u = scalar("u", "Pa");
  auto plain = exp(a) * log(a) * sin(angle) * cos(angle) * tan(angle) * tanh(a);
  auto speed = sqrt(w) * abs(sqrt(w)) * pow(a, 1.5) * pow(a, 2) * pow(a, -1);
  auto least = min(w, 2 * w) + max(w, speed) + where(a < 1 && !(w == 2 * w), w, 0);
  evolve(dtt(u) = plain * least * laplacian(u));
}

TEST_CASE("functions: of parameters and numbers, with units; the same in 1, 2 and 3 dimensions") {
  for (int dims = 1; dims <= 3; ++dims) {
    const std::string text = right_side(all_functions(), "u", dims);
    check_mentions(text, {"exp(a)*log(a)*sin(angle)*cos(angle)*tan(angle)*tanh(a)",
                          "max(w, sqrt(w)*abs(sqrt(w))*pow(a, 1.5)*a*a*1/a)", "min(w, 2*w)",
                          "where(less(a, 1)*((-1)*less_equal(w, 2*w)*less_equal(2*w, w) + 1), w, 0)"});
  }
  const ir::Equation equation = all_functions().instantiate({"z"});
  CHECK(equation.parameters[2].uniform);
  CHECK_FALSE(equation.parameters[0].uniform);
}

EQUATION(root_of_field, "a root of a field") {
  auto vp = parameter("vp", "m/s");
  auto u = scalar("u", "m^2");
  mistake() = __LINE__ + 1;
  evolve(dtt(u) = sq(vp) * laplacian(sqrt(u)));
}

EQUATION(root_of_density, "a unit without a root") {
  auto rho = parameter("rho", "kg/m^3");
  auto u = scalar("u", "Pa");
  mistake() = __LINE__ + 1;
  evolve(dtt(u) = sqrt(rho) * laplacian(u));
}

EQUATION(exponential_of_speed, "an exponent with a unit") {
  auto vp = parameter("vp", "m/s");
  auto u = scalar("u", "Pa");
  mistake() = __LINE__ + 1;
  evolve(dtt(u) = exp(vp) * laplacian(u));
}

EQUATION(least_of_two_units, "min of a speed and a number") {
  auto vp = parameter("vp", "m/s");
  auto u = scalar("u", "Pa");
  mistake() = __LINE__ + 1;
  evolve(dtt(u) = min(vp, 3) * laplacian(u));
}

EQUATION(power_without_unit, "a unit to the 0.3") {
  auto vp = parameter("vp", "m/s");
  auto u = scalar("u", "Pa");
  mistake() = __LINE__ + 1;
  evolve(dtt(u) = pow(vp, 0.3) * laplacian(u));
}

TEST_CASE("functions: of fields, of wrong units and of unlike ones are refused") {
  check_complaint(root_of_field(), {"sqrt() of a field: the equation would not be linear"});
  check_complaint(root_of_density(), {"sqrt() of [kg/m^3]: the exponents of its unit must be even"});
  check_complaint(exponential_of_speed(), {"exp() of [m/s]: its argument has no unit"});
  check_complaint(least_of_two_units(), {"min() of [m/s] and [1]: they must have one unit"});
  check_complaint(power_without_unit(), {"pow() of [m/s] to the 0.3"});
}

EQUATION(by_components, "elastic, component by component") {
  auto mu = parameter("mu", "Pa", positive);
  auto rho = parameter("rho", "kg/m^3", positive);
  auto v = vector("v", "m/s");
  auto s = symmetric_tensor("s", "Pa");
  evolve(dt(v) = div(s) / rho);
  for (const auto& axis : axes()) evolve(dt(s[axis + axis]) = mu * d(v[axis], axis));
  if (has("x")) evolve(dt(s["xz"]) = mu * (d(v["x"], "z") + d(v["z"], "x") + d(v["z"], "y")));
  if (has("y")) {
    evolve(dt(s["xy"]) = mu * (d(v["x"], "y") + d(v["y"], "x")));
    evolve(dt(s["zy"]) = mu * (d(v["y"], "z") + d(v["z"], "y")));
  }
}

TEST_CASE("components: scalars that evolve one by one, in one statement; axes that are not there give 0") {
  CHECK(right_side(by_components(), "s.zx", 2) == "mu*(D1zs(v.x) + D1xs(v.z))");
  CHECK(right_side(by_components(), "s.zx", 3) == "mu*(D1zs(v.x) + D1xs(v.z) + D1ys(v.z))");
  CHECK(right_side(by_components(), "s.zy", 3) == "mu*(D1zs(v.y) + D1ys(v.z))");
  const ir::Program program =
      passes::discretize_time(passes::check(by_components().instantiate({"z", "x"})), 4);
  // Updates of a statement stand together, their halos behind them.
  std::string kinds;
  for (const ir::Operation& operation : program.operations)
    kinds += std::holds_alternative<ir::Update>(operation) ? "u"
             : std::holds_alternative<ir::Halo>(operation) ? "h"
                                                           : "";
  CHECK(kinds == "uuhhuuuhhh");
}

EQUATION(no_such_component, "v.y in two dimensions") {
  auto vp = parameter("vp", "m/s");
  auto v = vector("v", "m/s");
  mistake() = __LINE__ + 1;
  evolve(dtt(v["y"]) = sq(vp) * d2(v["y"], "x"));
}

EQUATION(wrong_axis, "a derivative along w") {
  auto vp = parameter("vp", "m/s");
  auto u = scalar("u", "Pa");
  mistake() = __LINE__ + 1;
  evolve(dtt(u) = sq(vp) * d2(u, "w"));
}

EQUATION(half_a_vector, "one component is left out") {
  auto vp = parameter("vp", "m/s");
  mistake() = __LINE__ + 1;
  auto v = vector("v", "m/s");
  evolve(dtt(v["x"]) = sq(vp) * d(d(v["x"], "x"), "x"));
}

EQUATION(twice_a_component, "one component twice") {
  auto vp = parameter("vp", "m/s");
  auto v = vector("v", "m/s");
  evolve(dtt(v) = sq(vp) * div(grad(v)));
  mistake() = __LINE__ + 1;
  evolve(dtt(v["x"]) = sq(vp) * d(d(v["x"], "x"), "x"));
}

EQUATION(component_of_scalar, "u has none") {
  auto vp = parameter("vp", "m/s");
  auto u = scalar("u", "Pa");
  mistake() = __LINE__ + 1;
  evolve(dtt(u) = sq(vp) * d2(u["x"], "x"));
}

TEST_CASE("components: absent axes, wrong names, missing and doubled components are told") {
  check_complaint(no_such_component(),
                  {"component \"y\": there is no axis y here, only z, x; guard it: if (has(\"y\"))"});
  check_complaint(wrong_axis(), {"\"w\" is no axis; there are x, y and z"});
  check_complaint(half_a_vector(), {"field v.z never evolves"});
  check_complaint(twice_a_component(), {"v.x evolves twice"});
  check_complaint(component_of_scalar(), {"[\"x\"] of a scalar: only vectors and tensors have components"});
}

EQUATION(stiff, "a stiffness by entries") {
  auto c11 = parameter("c11", "Pa");
  auto c13 = parameter("c13", "Pa");
  auto c55 = parameter("c55", "Pa");
  auto rho = parameter("rho", "kg/m^3");
  auto v = vector("v", "m/s");
  auto s = symmetric_tensor("s", "Pa");
  auto c = stiffness({{"xx", "xx", c11}, {"xx", "zz", c13}, {"zz", "zz", c11}, {"zx", "xz", c55}});
  evolve(dt(v) = div(s) / rho);
  evolve(dt(s) = contract(c, sym(grad(v))));
}

TEST_CASE("stiffness: each pair once, shear strains twice; entries of absent axes are left out") {
  CHECK(right_side(stiff(), "s.xx", 2) == "c11*D1xs(v.x) + c13*D1zs(v.z)");
  CHECK(right_side(stiff(), "s.zz", 2) == "c13*D1xs(v.x) + c11*D1zs(v.z)");
  CHECK(right_side(stiff(), "s.zx", 2) == "c55*(D1xs(v.z) + D1zs(v.x))");
  CHECK(right_side(stiff(), "s.xx", 3) == right_side(stiff(), "s.xx", 2));
  CHECK(right_side(stiff(), "s.yx", 3) == "0");
}

EQUATION(monoclinic, "a normal strain that shears") {
  auto c15 = parameter("c15", "Pa");
  mistake() = __LINE__ + 1;
  auto c = stiffness({{"xx", "xz", c15}});
}

EQUATION(doubled_modulus, "c13 and c31") {
  auto c13 = parameter("c13", "Pa");
  mistake() = __LINE__ + 1;
  auto c = stiffness({{"xx", "zz", c13}, {"zz", "xx", c13}});
}

EQUATION(moduli_of_two_units, "a speed among moduli") {
  auto c11 = parameter("c11", "Pa");
  auto vp = parameter("vp", "m/s");
  mistake() = __LINE__ + 1;
  auto c = stiffness({{"xx", "xx", c11}, {"zz", "zz", vp}});
}

EQUATION(unsymmetric_strain, "grad without sym") {
  auto c11 = parameter("c11", "Pa");
  auto v = vector("v", "m/s");
  auto s = symmetric_tensor("s", "Pa");
  auto c = stiffness({{"xx", "xx", c11}});
  mistake() = __LINE__ + 1;
  evolve(dt(s) = contract(c, grad(v)));
}

TEST_CASE("stiffness: couplings off the grid, pairs given twice and mixed units are refused") {
  check_complaint(monoclinic(),
                  {"\"xx\" and \"xz\"", "different points of the staggered grid", "orthorhombic symmetry"});
  check_complaint(doubled_modulus(), {"\"zz\" and \"xx\": it is given twice"});
  check_complaint(moduli_of_two_units(), {"[m/s] beside [kg/(m s^2)]"});
  check_complaint(unsymmetric_strain(), {"contract() takes a symmetric tensor: use sym(...)"});
}

EQUATION(speed_in_pascal, "a declared speed with another unit") {
  auto vp = parameter("vp", "m/s");
  auto u = scalar("u", "Pa");
  mistake() = __LINE__ + 1;
  speeds(sq(vp), vp);
  evolve(dtt(u) = sq(vp) * laplacian(u));
}

TEST_CASE("speeds: in m/s") {
  check_complaint(speed_in_pascal(), {"a speed has unit [m^2/s^2], needed is [m/s]"});
}

EQUATION(fed_twice, "one source, in two terms and two fields") {
  auto k = parameter("k", "Pa");
  auto rho = parameter("rho", "kg/m^3");
  auto v = vector("v", "m/s");
  auto a = scalar("a", "Pa");
  auto b = scalar("b", "Pa");
  evolve(dt(v) = grad(a + b) / rho);
  evolve(dt(a) = k * (div(v) + source(a)) + rho * source(a));
  evolve(dt(b) = k * (div(v) + source(a)));
}

TEST_CASE(
    "sources: what one feeds a field in several terms is one injection; others' fields take their own") {
  const ir::Program program = passes::discretize_time(passes::check(fed_twice().instantiate({"z"})), 4);
  std::string found;
  for (const ir::Operation& operation : program.operations) {
    if (const auto* injection = std::get_if<ir::Injection>(&operation))
      found +=
          injection->source + " to " + injection->field + ": " + ir::text(injection->factor, {"z"}) + "\n";
  }
  CHECK(found == "a to a: dt*(k + rho)\na to b: dt*k\n");
}

}  // namespace ondula::test
