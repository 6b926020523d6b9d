// The invariants that ir::verify keeps.
// SPDX-License-Identifier: MIT
#include "compiler/ir/program.hpp"

#include <doctest/doctest.h>

#include "compiler/error.hpp"
#include "equations/equations.hpp"
#include "tests/compiler/reference/setup.hpp"
#include "tests/support/messages.hpp"

using namespace ondula;

namespace {

/// What verify says about `program`; empty if nothing.
std::string complaint(const ir::Program& program) {
  return test::message_of<InternalError>([&] { ir::verify(program, "test"); });
}

}  // namespace

TEST_CASE("A16: a time level that is not kept is an error naming field, level and what is kept") {
  ir::Program program = test::program(equations::acoustic(), 1, 8);
  CHECK(complaint(program).empty());
  const auto add = [&](const std::string& field, int level) {
    ir::Program changed = program;
    changed.operations.push_back(ir::Update{"u", 1, changed.pool->field(field, level), true, {{}}});
    return complaint(changed);
  };
  CHECK(test::holds(add("u", -2), "u is read at time level -2, kept are -1 to 1"));
  CHECK(test::holds(add("u", 2), "time level 2"));
  CHECK(test::holds(add("u_psi_z", -1), "u_psi_z is read at time level -1, kept are 0 to 1"));
  CHECK(add("u", -1).empty());
  CHECK(test::holds(add("u", -2), "after pass test: equation acoustic"));
}

TEST_CASE("program: verify names what is unknown, twice there, or out of place") {
  const ir::Program program = test::program(equations::acoustic(), 1, 8);
  ir::Pool& pool = *program.pool;
  const auto with = [&](const ir::Operation& operation) {
    ir::Program changed = program;
    changed.operations.push_back(operation);
    return complaint(changed);
  };
  CHECK(test::holds(with(ir::Update{"w", 1, pool.field("u", 0), false, {{}}}), "no field w"));
  CHECK(test::holds(with(ir::Update{"u", 1, pool.field("w", 0), false, {{}}}), "no field w"));
  CHECK(test::holds(with(ir::Update{"u", 1, pool.parameter("rho"), false, {{}}}), "unknown parameter rho"));
  CHECK(test::holds(with(ir::Update{"u", 1, pool.coefficient("c0"), false, {{}}}), "unknown coefficient c0"));
  CHECK(test::holds(with(ir::Update{"u", 0, pool.field("u", 0), false, {{}}}), "at level 0"));
  CHECK(test::holds(with(ir::Update{"u", 1, pool.field("u", 0), false, {}}), "without a region"));
  CHECK(test::holds(with(ir::Update{"u", 1, pool.source("u"), false, {{}}}), "source term left"));
  CHECK(test::holds(with(ir::Injection{"u", "u", 1, pool.field("u", 0)}), "varies in time"));
  ir::Program twice = program;
  twice.fields.push_back(twice.fields[0]);
  CHECK(test::holds(complaint(twice), "two fields named u"));
}
