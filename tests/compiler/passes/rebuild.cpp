// reverse, rings, rebuild: the interior found again, and what of it must be kept.
// SPDX-License-Identifier: MIT
#include "compiler/passes/rebuild.hpp"

#include <fmt/format.h>

#include "compiler/error.hpp"
#include "compiler/ir/domain.hpp"
#include "compiler/passes/differentiate.hpp"
#include "compiler/passes/reverse.hpp"
#include "tests/compiler/passes/golden.hpp"
#include "tests/compiler/passes/stages.hpp"

namespace ondula::test {

EQUATION(fading_wave, "a wave whose velocity fades") {
  auto c = parameter("c", "m/s", positive);
  auto q = parameter("q", "1/s", nonnegative);
  auto v = vector("v", "m/s");
  auto f = scalar("f", "m/s");
  evolve(dt(v) = c * grad(f) - q * v);
  evolve(dt(f) = c * div(v) + source(f));
}

namespace {

ir::Adjoint rebuilt(const EquationDefinition& equation, int dims, int order) {
  const ir::Program physical = absorbed_program(equation, dims, order);
  return passes::rebuild(physical, passes::differentiate(physical, false, true));
}

/// "v.z 7 8": cells of each ring along each axis.
std::vector<std::string> cells(const ir::Adjoint& adjoint) {
  std::vector<std::string> result;
  for (const ir::Ring& ring : adjoint.rings) {
    std::string text = ring.field;
    for (int axis = 0; axis < adjoint.program.dims(); ++axis) {
      const auto a = static_cast<std::size_t>(axis);
      text += fmt::format(" {}", (ring.inner[a] - ring.outer[a]) / 2);
    }
    result.push_back(text);
  }
  return result;
}

using Texts = std::vector<std::string>;

}  // namespace

TEST_CASE("rebuild: rings are M cells of a scalar, velocities alone of elastic, whatever the order") {
  for (const int order : {2, 4, 8, 12, 16}) {
    CAPTURE(order);
    const int m = order / 2;
    const std::string normal = fmt::format(" {}", 2 * m - 1), across = fmt::format(" {}", 2 * m);
    CHECK(cells(rebuilt(equations::acoustic(), 2, order)) == Texts{fmt::format("u {0} {0}", m)});
    CHECK(cells(rebuilt(equations::acoustic_density(), 2, order)) == Texts{"u" + across + across});
    CHECK(cells(rebuilt(equations::elastic(), 3, order)) == Texts{"v.x" + across + across + normal,
                                                                  "v.y" + across + normal + across,
                                                                  "v.z" + normal + across + across});
  }
}

TEST_CASE("rebuild: the ring of elastic 192^3 holds less than two thirds of nine fields' rings of M cells") {
  ir::Domain domain;
  domain.dims = 3;
  domain.shape = {192, 192, 192};
  for (auto& pair : domain.pad) pair = {20, 20};
  const ir::Adjoint adjoint = rebuilt(equations::elastic(), 3, 4);
  std::int64_t own = 0, nine = 0;
  for (const ir::Ring& ring : adjoint.rings) {
    for (const ir::Box& box : domain.ring(adjoint.forward.field(ring.field), ring.outer, ring.inner))
      own += box[0].size() * box[1].size() * box[2].size();
  }
  const ir::Depths outer{}, inner = {4, 4, 4};  // 2 cells
  for (const ir::Box& box : domain.ring(ir::Field{}, outer, inner))
    nine += 9 * box[0].size() * box[1].size() * box[2].size();
  MESSAGE(fmt::format("{} values a step, nine fields' {}: {:.3f}", own, nine,
                      static_cast<double>(own) / static_cast<double>(nine)));
  CHECK(3 * own < 2 * nine);
}

TEST_CASE("rebuild: nothing is saved, and every field has what it begins the way back with") {
  const ir::Adjoint adjoint = rebuilt(equations::acoustic(), 3, 4);
  CHECK(adjoint.saves.empty());
  REQUIRE(adjoint.handovers.size() == 2);
  CHECK(adjoint.handovers[0].rebuilt == "u.rebuilt");
  CHECK(adjoint.handovers[0].from == 0);
  CHECK(adjoint.handovers[0].to == -1);
  CHECK(rebuilt(equations::elastic(), 2, 4).handovers.size() == 5);
}

TEST_CASE("rebuild: a field that fades has no step backwards, and the reason says so") {
  const ir::Program physical = absorbed_program(fading_wave(), 1, 4);
  try {
    passes::reverse(physical);
    FAIL("it was reversed");
  } catch (const UserError& error) {
    const std::string text = error.what();
    CAPTURE(text);
    CHECK(text.find("equation fading_wave: no step backwards in time is derived for v.z: a step keeps ") !=
          std::string::npos);
    CHECK(text.find("times what it was, which undone would grow by as much") != std::string::npos);
    CHECK(text.find("rebuild.cpp:") != std::string::npos);
  }
}

TEST_CASE("rebuild: the steps back of acoustic and elastic in 2-D are as listed") {
  check_golden("acoustic_2d_o4_rebuilt", ir::dump(rebuilt(equations::acoustic(), 2, 4)));
  check_golden("elastic_2d_o4_rebuilt", ir::dump(rebuilt(equations::elastic(), 2, 4)));
}

}  // namespace ondula::test
