// The baseline's nine cases scaled down: eager against compiled gradients.
// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "bench/baseline_cases.hpp"
#include "tests/runtime/jit/support.hpp"

namespace ondula::test {
namespace {

Gradient gradient(bench::Setup setup, Backend backend) {
  setup.options.backend = backend;
  return setup.propagator().gradient(
      setup.shots, [](std::int64_t, const auto& records) { return bench::sum_of_squares(records); });
}

void check_cases(const std::string& equation) {
  ONDULA_NEEDS_CLANG();
  const auto compiler = make_compiler();
  double worst = 0;
  for (const bench::Case& full : bench::baseline_cases()) {
    if (full.equation != equation) continue;
    CAPTURE(full.label);
    bench::Setup setup = bench::set_up(bench::scaled(full, {12, 10, 8, 4}));
    setup.options.compiler = compiler;
    const Gradient eager = gradient(setup, Backend::reference), compiled = gradient(setup, Backend::host);
    CHECK(eager.misfit > 0);
    for (const auto& [name, values] : eager.models) {
      CAPTURE(name);
      const double difference = bench::relative_l2(compiled.models.at(name), values);
      CHECK(difference <= 1e-5);
      worst = std::max(worst, difference);
    }
  }
  MESSAGE(equation, ": compiled against eager, at most ", worst);
}

}  // namespace

TEST_CASE("The baseline's acoustic cases scaled down: eager and compiled gradients agree in float32") {
  check_cases("acoustic");
}

TEST_CASE("The baseline's elastic cases scaled down: eager and compiled gradients agree in float32") {
  check_cases("elastic");
}

}  // namespace ondula::test
