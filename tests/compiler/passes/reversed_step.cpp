// reversed_step: rings as numerics.md has them, the statements as listed, no coefficient of its own.
// SPDX-License-Identifier: MIT
#include "compiler/passes/reversed_step.hpp"

#include <fmt/format.h>

#include "compiler/error.hpp"
#include "compiler/passes/pipeline.hpp"
#include "tests/compiler/passes/golden.hpp"
#include "tests/compiler/passes/stages.hpp"

namespace ondula::test {

EQUATION(ebbing_wave, "a wave that loses some of itself in each step") {
  auto vp = parameter("vp", "m/s", positive);
  auto rho = parameter("rho", "1/s", nonnegative);
  auto v = vector("v", "m/s");
  auto f = scalar("f", "m/s");
  evolve(dt(v) = vp * grad(f) - rho * v);
  evolve(dt(f) = vp * div(v) + source(f));
}

namespace {

/// "v.z -3 3, -2 4": the depths of each ring along each axis, in half cells.
std::vector<std::string> depths(const EquationDefinition& equation, int dims, int order) {
  const ir::Program back = passes::reversed_step(absorbed_program(equation, dims, order));
  std::vector<std::string> result;
  for (const ir::Operation& operation : back.operations) {
    const auto* ring = std::get_if<ir::Ring>(&operation);
    if (ring == nullptr) continue;
    std::string text = ring->field;
    for (std::size_t a = 0; a < static_cast<std::size_t>(dims); ++a)
      text += fmt::format("{} {} {}", a > 0 ? "," : "", ring->outer[a], ring->inner[a]);
    result.push_back(text);
  }
  return result;
}

using Texts = std::vector<std::string>;

}  // namespace

TEST_CASE("reversed_step: M cells of a scalar, 2M - 1 of a nested one and of elastic velocities") {
  for (const int m : {1, 2, 4, 8}) {
    CAPTURE(m);
    CHECK(depths(equations::acoustic(), 2, 2 * m) == Texts{fmt::format("u 0 {0}, 0 {0}", 2 * m)});
    CHECK(depths(equations::acoustic_density(), 2, 2 * m) ==
          Texts{fmt::format("u 0 {0}, 0 {0}", 2 * (2 * m - 1))});
    // Half cells along the normal, nodes across: in the layer too, so that stresses are right up to it.
    const std::string normal = fmt::format("{} {}", 1 - 2 * m, 2 * m - 1);
    const std::string across = fmt::format("{} {}", 2 - 2 * m, 2 * m);
    CHECK(depths(equations::elastic(), 2, 2 * m) ==
          Texts{"v.x " + across + ", " + normal, "v.z " + normal + ", " + across});
  }
}

TEST_CASE("reversed_step: the steps of acoustic and elastic in 2-D are as listed") {
  check_golden("acoustic_2d_o4_reversed",
               ir::dump(passes::reversed_step(absorbed_program(equations::acoustic(), 2, 4))));
  check_golden("elastic_2d_o4_reversed",
               ir::dump(passes::reversed_step(absorbed_program(equations::elastic(), 2, 4))));
}

TEST_CASE("compile_reversible: the step back reads the forward step's coefficients, and no others") {
  for (const auto& equation : {equations::acoustic(), equations::acoustic_density(), equations::elastic()}) {
    for (const passes::Target target : {passes::Target::host, passes::Target::cuda}) {
      CAPTURE(equation.name());
      passes::PipelineOptions options;
      options.axes = default_axes(2);
      options.order = 4;
      options.target = target;
      const passes::ReversibleCompilation both = passes::compile_reversible(equation, options);
      REQUIRE(both.reverse);
      const auto names = [](const ir::Program& program) {
        Texts found;
        for (const ir::Coefficient& c : program.coefficients) found.push_back(c.name);
        return found;
      };
      CHECK(names(both.reverse->kernels.program) == names(both.forward.kernels.program));
    }
  }
}

TEST_CASE("compile_reversible: a step that loses something has none back, and the reason is reverse's") {
  passes::PipelineOptions options;
  options.axes = default_axes(1);
  const passes::ReversibleCompilation both = passes::compile_reversible(ebbing_wave(), options);
  CHECK_FALSE(both.reverse);
  CAPTURE(both.no_reverse);
  CHECK(both.no_reverse.find(
            "equation ebbing_wave: no step backwards in time is derived for v.z: a step keeps ") !=
        std::string::npos);
}

}  // namespace ondula::test
