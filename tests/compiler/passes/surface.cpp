// surface: moduli on the rows of free surfaces, and equations that have none.
// SPDX-License-Identifier: MIT
#include "compiler/passes/surface.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "compiler/dsl/dsl.hpp"
#include "compiler/error.hpp"
#include "compiler/ir/evaluate.hpp"
#include "compiler/passes/pipeline.hpp"
#include "runtime/propagator.hpp"
#include "tests/compiler/passes/stages.hpp"
#include "tests/equations/engines.hpp"

namespace ondula::test {

EQUATION(displacements, "u_tt = c^2 div(grad u): no stresses among its fields") {
  auto c = parameter("c", "m/s", positive);
  auto u = vector("u", "m");
  evolve(dtt(u) = sq(c) * div(grad(u)));
}

EQUATION(with_memory, "a stress that relaxes through another tensor") {
  auto rho = parameter("rho", "kg/m^3", positive), lambda = parameter("lambda", "Pa"),
       mu = parameter("mu", "Pa"), rate = parameter("rate", "1/s");
  auto v = vector("v", "m/s");
  auto r = symmetric_tensor("r", "Pa/s"), s = symmetric_tensor("s", "Pa");
  evolve(dt(v) = div(s) / rho);
  evolve(dt(r) = rate * (2 * mu * sym(grad(v))) - rate * r);
  evolve(dt(s) = lambda * trace(grad(v)) * identity() + 2 * mu * sym(grad(v)) + r);
}

EQUATION(with_pressure, "a stress and a pressure drive one velocity") {
  auto rho = parameter("rho", "kg/m^3", positive), k = parameter("k", "Pa");
  auto v = vector("v", "m/s");
  auto p = scalar("p", "Pa");
  auto s = symmetric_tensor("s", "Pa");
  evolve(dt(v) = (div(s) - grad(p)) / rho);
  evolve(dt(p) = -k * div(v));
  evolve(dt(s) = k * sym(grad(v)));
}

EQUATION(damped_stresses, "elastic waves whose stresses decay, solved semi-implicitly") {
  auto rho = parameter("rho", "kg/m^3", positive), lambda = parameter("lambda", "Pa"),
       mu = parameter("mu", "Pa"), rate = parameter("rate", "1/s");
  auto v = vector("v", "m/s");
  auto s = symmetric_tensor("s", "Pa");
  evolve(dt(v) = div(s) / rho);
  evolve(dt(s) = lambda * trace(grad(v)) * identity() + 2 * mu * sym(grad(v)) - rate * s);
}

EQUATION(no_lambda, "a law without lambda") {
  auto rho = parameter("rho", "kg/m^3", positive), mu = parameter("mu", "Pa");
  auto v = vector("v", "m/s");
  auto s = symmetric_tensor("s", "Pa");
  evolve(dt(v) = div(s) / rho);
  evolve(dt(s) = 2 * mu * sym(grad(v)));
}

EQUATION(numbers_only, "moduli that are numbers") {
  auto c2 = parameter("c2", "m^2/s^2", positive);
  auto v = vector("v", "m/s");
  auto s = symmetric_tensor("s", "1");
  evolve(dt(v) = c2 * div(s));
  evolve(dt(s) = 2 * trace(grad(v)) * identity() + sym(grad(v)));
}

namespace {

ir::Program surfaced(const EquationDefinition& equation, int dims) {
  const ir::Equation checked = passes::check(equation.instantiate(default_axes(dims)));
  return passes::surface(passes::discretize_time(checked, 4));
}

void find(ir::Expr e, std::vector<ir::Expr>& found) {
  if (e->kind == ir::Kind::surface && std::find(found.begin(), found.end(), e) == found.end())
    found.push_back(e);
  for (const ir::Expr arg : e->args) find(arg, found);
}

/// The distinct surface values of a program.
std::vector<ir::Expr> surface_values(const ir::Program& program) {
  std::vector<ir::Expr> found;
  for (const ir::Operation& operation : program.operations) {
    if (const auto* update = std::get_if<ir::Update>(&operation)) find(update->value, found);
  }
  return found;
}

/// The elastic equation's modulus over dt where 0, 1, 2 surfaces meet.
std::vector<double> modulus(double vp, double vs, double rho) {
  const ir::Program program = surfaced(equations::elastic(), 3);
  const ir::Expr e = surface_values(program).at(0);
  const std::map<std::string, double> values = {{"vp", vp}, {"vs", vs}, {"rho", rho}};
  std::vector<double> rows, out;
  const auto parameter = [&](const std::string& name) {
    rows.assign(3, values.at(name));
    return static_cast<const double*>(rows.data());
  };
  ir::nodal_values(e, {}, parameter, 3, out, [](std::size_t i) { return static_cast<int>(i); });
  return out;
}

}  // namespace

TEST_CASE("surface: one modulus of the elastic equation changes, for all its stresses alike") {
  for (const int dims : {2, 3}) {
    const ir::Program program = surfaced(equations::elastic(), dims);
    CHECK(program.no_surface.empty());
    const auto values = surface_values(program);
    REQUIRE(values.size() == 1);
    CHECK(values[0]->args.size() == static_cast<std::size_t>(dims));
  }
  const ir::Program line = surfaced(equations::elastic(), 1);
  CHECK(surface_values(line).empty());
}

TEST_CASE("surface: lambda becomes 2 lambda mu/(lambda + 2 mu), then that of Young's modulus on an edge") {
  const double vp = 3000, vs = 1600, rho = 2200;
  const double mu = rho * vs * vs, lambda = rho * vp * vp - 2 * mu;
  const std::vector<double> found = modulus(vp, vs, rho);
  CHECK(found[0] == doctest::Approx(lambda).epsilon(1e-14));
  CHECK(found[1] == doctest::Approx(2 * lambda * mu / (lambda + 2 * mu)).epsilon(1e-14));
  const double young = mu * (3 * lambda + 2 * mu) / (lambda + mu);
  CHECK(found[2] + 2 * mu == doctest::Approx(young).epsilon(1e-14));
}

TEST_CASE("surface: fluids, and solids with lambda = 0, have modulus 0 on a surface") {
  const std::vector<double> fluid = modulus(1500, 0, 1000);
  CHECK(fluid == std::vector<double>{2.25e9, 0, 0});
  const std::vector<double> soft = modulus(2, std::sqrt(2.0), 1);
  for (const double value : soft) CHECK(std::fabs(value) < 1e-14);
}

TEST_CASE("surface: no coefficient array more than without surfaces, and no faces in the text") {
  for (const int dims : {2, 3}) {
    const passes::Compilation with = passes::compile(equations::elastic(), {default_axes(dims), 8});
    int changed = 0;
    for (const ir::Coefficient& c : with.kernels.program.coefficients)
      changed += ir::contains(c.definition, ir::Kind::surface) ? 1 : 0;
    CHECK(changed == 1);
    for (const ir::Kernel& kernel : with.kernels.kernels) {
      for (const ir::Piece& piece : kernel.pieces) {
        for (const ir::Let& let : piece.lets) CHECK_FALSE(ir::contains(let.value, ir::Kind::surface));
      }
    }
  }
}

TEST_CASE("surface: scalars need no rule; a law without lambda, and one with a damping term, have theirs") {
  const auto count = [](const EquationDefinition& equation, int dims) {
    const ir::Program program = surfaced(equation, dims);
    CHECK_MESSAGE(program.no_surface.empty(), program.no_surface);
    return surface_values(program).size();
  };
  CHECK(count(equations::acoustic(), 3) == 0);
  CHECK(count(equations::acoustic_density(), 2) == 0);
  CHECK(count(no_lambda(), 3) == 0);
  CHECK(count(damped_stresses(), 2) == 1);
  CHECK(count(numbers_only(), 2) == 1);
}

TEST_CASE("A12: a free surface is refused, with the reason, by an equation that has no rule for it") {
  const auto refused = [](const EquationDefinition& equation, const std::string& reason) {
    CAPTURE(equation.name());
    const ir::Program program = surfaced(equation, 2);
    CHECK_MESSAGE(program.no_surface.find(reason) != std::string::npos, program.no_surface);
    ir::Domain domain = layered({12, 12}, 4);
    CHECK_NOTHROW(passes::require_surface(program, domain));
    domain.faces[1][1] = FaceKind::free_surface;
    domain.pad[1][1] = 0;
    CHECK_THROWS_WITH_AS(passes::require_surface(program, domain), doctest::Contains(reason.c_str()),
                         UserError);
    EngineCase c;
    c.domain = domain;
    c.order = 4;
    for (const ir::Parameter& p : program.parameters) c.models[p.name] = {1};
    CHECK_THROWS_WITH_AS(on_reference(equation, c), doctest::Contains("a free surface is refused"),
                         UserError);
  };
  refused(displacements(), "u.z is driven by derivatives of a vector");
  refused(with_memory(), "depends on r.zz, for which no rule is known on a surface");
  refused(with_pressure(), "scalars beside stresses");
}

TEST_CASE("A12: the Propagator refuses it once the faces are known, before anything is compiled") {
  Grid grid;
  grid.axes = {"z"};
  grid.shape = {30};
  grid.spacing = {10};
  grid.origin = {0};
  grid.faces = {{Face{FaceKind::absorbing, 5}, Face{FaceKind::free_surface, 0}}};
  PropagatorOptions options;
  options.dt = 1e-3;
  options.steps = 1;
  CHECK_THROWS_WITH_AS(
      Propagator(displacements(), grid, options),
      doctest::Contains("equation displacements: a free surface is refused: u.z is driven by"), UserError);
}

}  // namespace ondula::test
