// linearize: the tangent of every kind of update.
// SPDX-License-Identifier: MIT
#include "compiler/passes/linearize.hpp"

#include <doctest/doctest.h>

#include "compiler/passes/expand.hpp"
#include "compiler/passes/hoist.hpp"
#include "tests/compiler/passes/stages.hpp"

namespace ondula::test {
namespace {

EQUATION(damped_wave, "A damped wave with a field whose name ours must not repeat") {
  auto c = parameter("c", "m/s", positive);
  auto q = parameter("q", "1/s", nonnegative);
  auto u = scalar("u", "m");
  auto u_born = scalar("u_born", "m*s");
  evolve(dt(u) = sq(c) * laplacian(u_born) - q * u + source(u));
  evolve(dtt(u_born) = sq(c) * laplacian(u_born));
}

std::vector<std::string> updates_of(const ir::Program& program, const std::string& field) {
  std::vector<std::string> values;
  for (const ir::Operation& operation : program.operations) {
    const auto* update = std::get_if<ir::Update>(&operation);
    if (update != nullptr && update->field == field && !update->accumulate)
      values.push_back(ir::text(update->value, program.axes));
  }
  return values;
}

}  // namespace

TEST_CASE(
    "linearize: each term with the derivative's fields, and each coefficient's tangent with the fields") {
  const ir::Tangent acoustic = passes::linearize(absorbed_program(equations::acoustic(), 1, 4));
  CHECK(acoustic.program.direction == "born");
  CHECK(updates_of(acoustic.program, "u.born").at(0) ==
        "2*u.born + (-1)*u.born` + dt*dt*vp*vp*D2z(u.born) + tangent(dt*dt*vp*vp)*D2z(u)");
  CHECK(updates_of(acoustic.program, "u").size() == 1);
  const ir::Tangent density = passes::linearize(absorbed_program(equations::acoustic_density(), 1, 4));
  const std::string value = updates_of(density.program, "u.born").at(0);
  INFO(value);
  // Under a derivative by the product rule.
  CHECK(value.find("D1zs(u.born)") != std::string::npos);
  CHECK(value.find("tangent(mean[1/2](1/rho))*D1zs(u)") != std::string::npos);
}

TEST_CASE("linearize: damping changes with its own derivative; names stay apart") {
  const ir::Tangent tangent = passes::linearize(absorbed_program(damped_wave(), 1, 2));
  CHECK(tangent.suffix == ".born2");
  const std::string value = updates_of(tangent.program, "u.born2").at(0);
  INFO(value);
  CHECK(value.find("u.born2") != std::string::npos);
  CHECK(value.find("*u + ") != std::string::npos);
  CHECK(value.find("tangent(1/(") != std::string::npos);
  ir::verify(tangent.program, "linearize");
}

TEST_CASE("linearize: every update has its derivative's right before it, on the same region") {
  for_each_program([](const ir::Program& physical) {
    const ir::Tangent tangent = passes::linearize(physical);
    ir::verify(tangent.program, "linearize");
    CHECK(tangent.program.fields.size() == 2 * physical.fields.size());
    CHECK(tangent.program.operations.size() == 2 * physical.operations.size());
    for (std::size_t i = 0; i < tangent.program.operations.size(); i += 2) {
      const auto* derivative = std::get_if<ir::Update>(&tangent.program.operations[i]);
      const auto* own = std::get_if<ir::Update>(&tangent.program.operations[i + 1]);
      CHECK((derivative == nullptr) == (own == nullptr));
      if (own == nullptr || derivative == nullptr) continue;
      CHECK(derivative->field == tangent.derivative_of(own->field));
      CHECK(derivative->regions == own->regions);
      CHECK(derivative->accumulate == own->accumulate);
    }
  });
}

TEST_CASE("hoist: each tangent is one array at its own points, read at whole cells") {
  const ir::Tangent tangent = passes::linearize(absorbed_program(equations::acoustic_density(), 1, 2));
  const ir::Program hoisted = passes::hoist(passes::expand(tangent.program));
  std::vector<std::string> definitions;
  for (const ir::Coefficient& c : hoisted.coefficients) {
    if (ir::is_tangent(c.definition)) definitions.push_back(ir::text(c.definition, hoisted.axes));
  }
  CHECK(definitions == std::vector<std::string>{"tangent(mean[1/2](1/rho))", "tangent(dt*dt*rho*vp*vp)"});
  const auto offsets = [&](auto&& self, ir::Expr e) -> void {
    if (e->kind == ir::Kind::coefficient) CHECK(e->offset[0] % 2 == 0);
    for (const ir::Expr arg : e->args) self(self, arg);
  };
  for (const ir::Operation& operation : hoisted.operations) {
    if (const auto* update = std::get_if<ir::Update>(&operation)) offsets(offsets, update->value);
  }
}

}  // namespace ondula::test
