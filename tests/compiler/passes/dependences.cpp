// dependences: which updates share a sweep, and what is refused.
// SPDX-License-Identifier: MIT
#include "compiler/passes/dependences.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "compiler/dsl/dsl.hpp"
#include "compiler/error.hpp"
#include "compiler/passes/expand.hpp"
#include "tests/compiler/passes/stages.hpp"

namespace ondula::test {
namespace {

using ir::Expr;

using Names = std::vector<std::vector<std::string>>;

/// The fields each sweep updates, in order; "+" marks an accumulation.
Names sweeps(const ir::Program& expanded) {
  Names names;
  for (const passes::SweepOrOperation& entry : passes::dependences(expanded)) {
    if (entry.operation >= 0) continue;
    names.emplace_back();
    for (const int index : entry.sweep.updates) {
      const auto& update = std::get<ir::Update>(expanded.operations[static_cast<std::size_t>(index)]);
      names.back().push_back(update.field + (update.accumulate ? "+" : ""));
    }
  }
  return names;
}

/// A program over z and x with first-order fields f and g, and updates of them.
struct Small {
  ir::Program program;
  Small() {
    program.equation = "small";
    program.axes = {"z", "x"};
    program.order = 2;
    program.pool = std::make_shared<ir::Pool>();
    for (const char* name : {"f", "g"})
      program.fields.push_back({.name = name, .group = name, .unit = "Pa", .time_order = 1});
  }
  Expr read(const std::string& field, int level, int z, int x) {
    return program.pool->field(field, level, {2 * z, 2 * x, 0});
  }
  void update(const std::string& field, Expr value) {
    program.operations.push_back(ir::Update{field, 1, value, false, {ir::Region{}}, {}});
  }
};

}  // namespace

TEST_CASE("dependences: psi of outer axes in a first sweep, psi of x and all corrections with the main row") {
  const Names flat = sweeps(passes::expand(absorbed_program(equations::acoustic(), 2, 8)));
  CHECK(flat ==
        Names{{"u_psi_z"}, {"u_psi_x", "u", "u_zeta_z", "u+", "u+", "u+", "u_zeta_x", "u+", "u+", "u+"}});
  const Names volume = sweeps(passes::expand(absorbed_program(equations::acoustic(), 3, 8)));
  REQUIRE(volume.size() == 2);
  CHECK(volume[0] == std::vector<std::string>{"u_psi_z", "u_psi_y"});
  CHECK(volume[1].front() == "u_psi_x");
  const Names line = sweeps(passes::expand(absorbed_program(equations::acoustic(), 1, 8)));
  CHECK(line.size() == 1);
}

TEST_CASE(
    "dependences: on the host psi runs ahead in the sweep of its reader, by the stencil's radius along its "
    "axis") {
  for (int dims = 2; dims <= 3; ++dims) {
    for (const int order : {2, 8, 16}) {
      const ir::Program expanded = passes::expand(absorbed_program(equations::acoustic(), dims, order));
      std::vector<passes::Sweep> all;
      for (const passes::SweepOrOperation& entry : passes::dependences(expanded, true)) {
        if (entry.operation < 0) all.push_back(entry.sweep);
      }
      REQUIRE(all.size() == 1);
      for (std::size_t i = 0; i < all[0].updates.size(); ++i) {
        const auto& update =
            std::get<ir::Update>(expanded.operations[static_cast<std::size_t>(all[0].updates[i])]);
        const int axis = expanded.field(update.field).strip_axis;
        const bool runs = update.field.starts_with("u_psi") && axis < dims - 1;
        CHECK(all[0].leads[i].axis == (runs ? axis : -1));
        CHECK(all[0].leads[i].cells == (runs ? order / 2 : 0));
      }
    }
  }
}

TEST_CASE("dependences: who depends on another of its sweep does not run ahead") {
  Small small;
  ir::Field memory{.name = "m", .group = "m", .unit = "", .time_order = 1};
  memory.strip_axis = 0;
  small.program.fields.push_back(memory);
  const auto strip = [&](Expr value) {
    small.program.operations.push_back(
        ir::Update{"m", 1, value, false, {ir::Region{ir::RegionKind::strip, 0}}, {}});
  };
  small.update("g", small.read("g", 0, 0, 0));
  strip(small.read("g", 1, 0, 0));
  small.update("f", small.read("m", 1, 1, 0));
  std::size_t sweeps_taken = 0;
  for (const passes::SweepOrOperation& entry : passes::dependences(small.program, true)) {
    sweeps_taken += entry.operation < 0 ? 1 : 0;
    for (const passes::Lead& lead : entry.sweep.leads) CHECK(lead.axis == -1);
  }
  CHECK(sweeps_taken == 2);
}

TEST_CASE("dependences: velocities and stresses take a sweep each, memory variables with them") {
  for (int dims = 1; dims <= 3; ++dims) {
    CHECK(sweeps(passes::expand(absorbed_program(equations::elastic(), dims, 8))).size() == 2);
  }
}

TEST_CASE("dependences: every operation stands once, injections and halos in their place") {
  for_each_program([](const ir::Program& absorbed) {
    const ir::Program expanded = passes::expand(absorbed);
    std::vector<int> seen;
    std::vector<int> others;
    for (const passes::SweepOrOperation& entry : passes::dependences(expanded)) {
      if (entry.operation >= 0) {
        seen.push_back(entry.operation);
        others.push_back(entry.operation);
      }
      seen.insert(seen.end(), entry.sweep.updates.begin(), entry.sweep.updates.end());
    }
    CHECK(std::is_sorted(others.begin(), others.end()));
    std::sort(seen.begin(), seen.end());
    REQUIRE(seen.size() == expanded.operations.size());
    for (std::size_t i = 0; i < seen.size(); ++i) CHECK(seen[i] == static_cast<int>(i));
  });
}

TEST_CASE("dependences: a neighbour in another row parts two sweeps, one in the same row does not") {
  for (const bool other_row : {false, true}) {
    Small s;
    s.update("f", s.program.pool->sum({s.read("f", 0, 0, 0), s.read("g", 0, 0, 0)}));
    s.update("g", s.read("f", 1, other_row ? 1 : 0, other_row ? 0 : 3));
    CHECK(sweeps(s.program) == (other_row ? Names{{"f"}, {"g"}} : Names{{"f", "g"}}));
  }
}

TEST_CASE("dependences: what reads an old neighbour runs before the update that overwrites it") {
  Small s;
  s.update("g", s.read("f", 0, -1, 0));
  s.update("f", s.read("g", 1, 0, 0));
  CHECK(sweeps(s.program) == Names{{"g"}, {"f"}});
}

TEST_CASE("A9: an update that reads a neighbour of what it writes in place is refused") {
  for (const auto& [z, x] : {std::pair{1, 0}, {0, 1}, {0, -2}}) {
    Small s;
    s.update("f", s.read("f", 0, z, x));
    CHECK_THROWS_WITH_AS(passes::dependences(s.program),
                         "equation small: the update of f reads a neighbour of what it writes in place",
                         UserError);
    s.program.fields[0].strip_axis = 0;
    CHECK_THROWS_AS(passes::dependences(s.program), InternalError);
  }
  Small own;
  own.update("f", own.read("f", 0, 0, 0));
  CHECK_NOTHROW(passes::dependences(own.program));
}

TEST_CASE("dependences: a value that an earlier update has overwritten is refused") {
  Small s;
  s.update("f", s.read("f", 0, 0, 0));
  s.update("g", s.read("f", 0, 0, 0));
  CHECK_THROWS_WITH_AS(
      passes::dependences(s.program),
      doctest::Contains("the update of g reads f as it was before its own update, which comes first"),
      UserError);
}

EQUATION(diffusion, "a first-order field with derivatives of itself") {
  auto k = parameter("k", "m^2/s", positive);
  auto u = scalar("u", "Pa");
  evolve(dt(u) = k * laplacian(u) + source(u));
}

EQUATION(relaxation, "components of one tensor that feed each other") {
  auto k = parameter("k", "1/s", positive);
  auto s = symmetric_tensor("s", "Pa");
  evolve(dt(s) = -moment_rate(s) - k * trace(s) * identity());
}

TEST_CASE("A9: equations that would need a second level are refused with the author's line") {
  for (const EquationDefinition& equation : {diffusion(), relaxation()}) {
    const std::string line = equation.instantiate(default_axes(2)).evolutions[0].location.text();
    CHECK_THROWS_WITH_AS(passes::dependences(passes::expand(absorbed_program(equation, 2, 4))),
                         doctest::Contains((line + ": equation " + equation.name()).c_str()), UserError);
  }
}

}  // namespace ondula::test
