// Levels, means and the order of updates.
// SPDX-License-Identifier: MIT
#include "compiler/passes/time_levels.hpp"

#include "tests/compiler/passes/stages.hpp"
#include "tests/support/messages.hpp"

namespace ondula::test {

EQUATION(memory_stated_first, "memory before pressure, pressure before velocity") {
  auto c = parameter("c", "m/s", positive), d = parameter("d", "1/s", positive);
  auto v = vector("v", "m/s");
  auto r = scalar("r", "m/s^2"), p = scalar("p", "m/s");
  evolve(dt(r) = c * d * div(v) - d * r);
  evolve(dt(p) = c * div(v) + r);
  evolve(dt(v) = c * grad(p));
}

EQUATION(current_of_charges, "a plasma: the current half a step from the field") {
  auto c = parameter("c", "m/s", positive), w = parameter("w", "1/s", nonnegative);
  auto e = scalar("e", "V/m"), j = scalar("j", "V/m");
  auto h = axial_vector("h", "V/m");
  evolve(dt(e) = c * curl(h) - w * j);
  evolve(dt(h) = -c * curl(e));
  evolve(dt(j) = w * e);
}

EQUATION(two_ways_round, "two fields of one level in each other's right sides") {
  auto c = parameter("c", "m/s", positive), d = parameter("d", "1/s", positive);
  auto v = vector("v", "m/s");
  auto p = scalar("p", "m/s"), q = scalar("q", "m/s");
  evolve(dt(v) = c * grad(p));
  evolve(dt(p) = c * div(v) + d * q);
  evolve(dt(q) = c * div(v) - d * p);
}

namespace {

passes::TimeLevels levels_of(const EquationDefinition& equation, int dims) {
  return passes::time_levels(passes::check(equation.instantiate(default_axes(dims))));
}

std::string updates_of(const ir::Program& program) {
  std::string text;
  for (const ir::Operation& operation : program.operations) {
    if (const auto* update = std::get_if<ir::Update>(&operation)) text += update->field + " ";
  }
  return text;
}

}  // namespace

TEST_CASE("time_levels: readers of memory come first, level by level") {
  const passes::TimeLevels levels = levels_of(memory_stated_first(), 1);
  CHECK(levels.level == std::map<std::string, int>{{"p", 0}, {"r", 0}, {"v.z", 1}});
  CHECK(levels.means == std::set<std::pair<std::string, std::string>>{{"p", "r"}});
  const ir::Program program =
      passes::discretize_time(passes::check(memory_stated_first().instantiate({"z"})), 2);
  CHECK(updates_of(program) == "p r v.z ");
  CHECK(program.field("p").half_step);
  CHECK(program.field("r").half_step);
  CHECK_FALSE(program.field("v.z").half_step);
}

TEST_CASE("time_levels: a field that no derivative ties stands half a step from what it couples to") {
  const passes::TimeLevels levels = levels_of(current_of_charges(), 2);
  CHECK(levels.level == std::map<std::string, int>{{"e", 0}, {"h.x", 1}, {"h.z", 1}, {"j", 1}});
  CHECK(levels.means.empty());
}

TEST_CASE("time_levels: built-in equations stay as they are written") {
  for (const EquationDefinition& equation : equations::all()) {
    const passes::TimeLevels levels = levels_of(equation, 2);
    std::size_t next = 0;
    for (const auto& statement : levels.statements) {
      for (const std::size_t i : statement) CHECK(i == next++);
    }
    CHECK(levels.means.empty());
  }
}

TEST_CASE("time_levels: a ring at one level is refused with the author's line") {
  const ir::Equation equation = two_ways_round().instantiate({"z"});
  check_mentions(refusal([&] { passes::time_levels(passes::check(equation)); }),
                 {"time_levels.cpp:", "equation two_ways_round", "live at one time and feed each other"});
}

TEST_CASE("time_levels: the scheme of a memory variable is the trapezoidal rule") {
  const ir::Program program =
      passes::discretize_time(passes::check(memory_stated_first().instantiate({"z"})), 2);
  for (const ir::Operation& operation : program.operations) {
    const auto* update = std::get_if<ir::Update>(&operation);
    if (update == nullptr || update->field != "p") continue;
    // p' = p + dt (c D v + (r + dt/2 c d D v)/(1 + dt/2 d))
    CHECK(update->value->kind == ir::Kind::sum);
    CHECK(update->value->args.size() == 3);
    const std::string text = ir::text(update->value, program.axes);
    CAPTURE(text);
    CHECK(text.find("D1zs(v.z)") != std::string::npos);
    CHECK(text.find("D1zs(v.z)") == text.rfind("D1zs(v.z)"));
  }
}

}  // namespace ondula::test
