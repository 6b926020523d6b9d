// materialize: coefficient arrays that kernels compute from others, and what that leaves to move.
// SPDX-License-Identifier: MIT
#include "compiler/passes/materialize.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "compiler/passes/expand.hpp"
#include "compiler/passes/fuse.hpp"
#include "compiler/passes/hoist.hpp"
#include "compiler/passes/lower.hpp"
#include "tests/compiler/passes/stages.hpp"
#include "tests/compiler/passes/values.hpp"

namespace ondula::test {
namespace {

struct Stages {
  std::vector<passes::SweepOrOperation> step;
  ir::Program hoisted, materialized;
};

Stages stages_of(const ir::Program& absorbed) {
  const ir::Program expanded = passes::expand(absorbed);
  Stages stages{passes::dependences(expanded), passes::hoist(expanded), {}};
  stages.materialized = passes::materialize(stages.hoisted, stages.step);
  return stages;
}

/// Bytes per point and step in float32, each array that a sweep touches once: what it writes in place moves
/// twice.
int bytes_per_point(const Stages& stages) {
  const auto pieces = passes::fuse(stages.materialized, stages.step, passes::Fusion::loads);
  int moved = 0;
  for (const ir::Kernel& kernel : passes::lower(stages.materialized, pieces).kernels) {
    for (const ir::ArrayArgument& a : kernel.arrays) {
      if (a.kind != ir::ArrayKind::profile && a.side < 0) moved += a.written ? 8 : 4;
    }
  }
  return moved;
}

std::vector<std::string> definitions(const ir::Program& program) {
  std::vector<std::string> result;
  for (const ir::Coefficient& c : program.coefficients)
    result.push_back(ir::text(c.definition, program.axes));
  return result;
}

}  // namespace

TEST_CASE("materialize: elastic in 2-D and 3-D reads rho, lambda and 1/mu, and no other array") {
  for (const int dims : {2, 3}) {
    for (const int order : {2, 8}) {
      const Stages stages = stages_of(absorbed_program(equations::elastic(), dims, order));
      CHECK(stages.hoisted.coefficients.size() == 4);
      // lambda with its values on the rows where one free surface, or two, meet.
      std::string lambda = "dt*surface(rho*vp*vp + (-2)*rho*vs*vs";
      for (const char* surfaces :
           dims == 2 ? std::vector<const char*>{"1"} : std::vector<const char*>{"1", "2"})
        lambda += fmt::format(" | 1/(1/(rho*vp*vp + (-2)*rho*vs*vs) + {}/(2*rho*vs*vs))", surfaces);
      CHECK(definitions(stages.materialized) ==
            std::vector<std::string>{"rho", lambda + ")", "1/(rho*vs*vs)"});
      // Velocities, stresses and coefficients in two sweeps.
      CHECK(bytes_per_point(stages) == (dims == 2 ? 72 : 120));
    }
  }
}

TEST_CASE("materialize: an array that no other one serves stays: acoustics, and elastic in 1-D") {
  for (const EquationDefinition& equation : {equations::acoustic(), equations::acoustic_density()}) {
    for (int dims = 1; dims <= 3; ++dims) {
      const Stages stages = stages_of(absorbed_program(equation, dims, 4));
      CHECK(ir::dump(stages.materialized) == ir::dump(stages.hoisted));
    }
  }
  // Without shear stress nothing is averaged, and nothing reads 1/mu.
  const Stages stages = stages_of(absorbed_program(equations::elastic(), 1, 4));
  CHECK(definitions(stages.materialized) ==
        std::vector<std::string>{"rho", "dt*(rho*vp*vp + (-2)*rho*vs*vs)", "2*dt*rho*vs*vs"});
}

TEST_CASE("materialize: every update keeps its value") {
  for_each_program([](const ir::Program& absorbed) {
    const Stages stages = stages_of(absorbed);
    Surroundings before, after;
    before.program = &stages.hoisted;
    after.program = &stages.materialized;
    for (std::size_t i = 0; i < stages.hoisted.operations.size(); ++i) {
      const auto* update = std::get_if<ir::Update>(&stages.hoisted.operations[i]);
      if (update == nullptr) continue;
      const auto& changed = std::get<ir::Update>(stages.materialized.operations[i]);
      CHECK(value(changed.value, after) == doctest::Approx(value(update->value, before)).epsilon(1e-12));
    }
  });
}

TEST_CASE("materialize: in a fluid the modulus from its reciprocal is exactly 0") {
  const Stages stages = stages_of(absorbed_program(equations::elastic(), 3, 4));
  Surroundings fluid;
  fluid.program = &stages.materialized;
  fluid.parameter = [](const std::string& name, const ir::HalfCells& at) {
    return name == "vs" ? 0.0 : made_up(name, at);
  };
  int shear = 0, normal = 0;
  std::map<std::string, double> change;
  for (const ir::Operation& operation : stages.materialized.operations) {
    const auto* update = std::get_if<ir::Update>(&operation);
    if (update == nullptr || update->regions[0].kind != ir::RegionKind::live) continue;
    const ir::Field& field = stages.materialized.field(update->field);
    if (field.kind != ir::FieldKind::tensor) continue;
    const double now = fluid.field(*stages.materialized.pool->field(update->field, 0));
    change[update->field] = value(update->value, fluid) - now;
    (field.component[0] == field.component[1] ? normal : shear) += 1;
    if (field.component[0] != field.component[1]) CHECK(change[update->field] == 0);
  }
  CHECK(normal == 3);
  CHECK(shear == 3);
  // All normal stresses change by lambda div v alone.
  CHECK(change["s.zz"] != 0);
  CHECK(change["s.yy"] == doctest::Approx(change["s.zz"]).epsilon(1e-12));
  CHECK(change["s.xx"] == doctest::Approx(change["s.zz"]).epsilon(1e-12));
}

}  // namespace ondula::test
