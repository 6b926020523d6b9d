// Generated kernels run by the stand-in leave the bits of the host's, in every mode; nothing is found wrong.
// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>

#include "compiler/passes/cuda_schedule.hpp"
#include "equations/equations.hpp"
#include "tests/equations/engines.hpp"
#include "tests/runtime/device/sim/sim_device.hpp"
#include "tests/runtime/jit/support.hpp"

namespace ondula::test {
namespace {

using sim::Mode;

EngineCase brief(EngineCase c) {
  c.steps = 10;
  c.dtype = DType::float32;
  return c;
}

ir::Domain layered_domain(int dims) {
  if (dims == 1) return layered({60}, 6);
  return dims == 2 ? layered({21, 50}, 5) : layered({9, 11, 34}, 4);
}

SimSetup setup_for(const EquationDefinition& equation, const EngineCase& c, passes::Compilation& compilation,
                   int sm) {
  compilation = passes::compile(equation, {.axes = default_axes(c.domain.dims),
                                           .order = c.order,
                                           .stretched = c.stretched,
                                           .target = passes::Target::cuda});
  SimSetup setup;
  setup.domain = c.domain;
  setup.real = c.dtype == DType::float32 ? emit::Real::float32 : emit::Real::float64;
  setup.program = passes::cuda_schedule(compilation.kernels, {sm, c.dtype == DType::float32 ? 4 : 8, 32});
  setup.kernels = sim_program(setup.program, setup.real);
  return setup;
}

std::map<std::string, std::vector<double>> sim_fields(const passes::Compilation& compilation, EngineCase c,
                                                      const SimSetup& setup) {
  c.device = [&](int) { return make_sim_device(setup); };
  return text_fields(compilation, c, sweeps_text(setup.program, setup.real), {});
}

/// Everything that was found, a line each.
std::string found(const SimSetup& setup) {
  std::string all;
  for (const sim::Finding& finding : setup.record->findings) all += finding.text + "\n";
  return all;
}

void check_modes(const EquationDefinition& equation, const EngineCase& c, int sm) {
  CAPTURE(equation.name());
  CAPTURE(c.domain.dims);
  CAPTURE(sm);
  const auto expected = host_fields(equation, c);
  for (const auto& [name, values] : expected) {
    CAPTURE(name);
    CHECK(std::any_of(values.begin(), values.end(), [](double v) { return v != 0; }));
  }
  passes::Compilation compilation;
  SimSetup setup = setup_for(equation, c, compilation, sm);
  CHECK((sim_fields(compilation, c, setup) == expected));
  setup.mode = Mode::shuffle;
  for (const std::uint64_t seed : {1U, 2U}) {
    CAPTURE(seed);
    setup.seed = seed;
    CHECK((sim_fields(compilation, c, setup) == expected));
  }
  setup.mode = Mode::check;
  CHECK((sim_fields(compilation, c, setup) == expected));
  CHECK(found(setup) == "");
}

}  // namespace

TEST_CASE("cuda-sim check: a generated kernel whose grid is too large, or that updates in place, is found") {
  ONDULA_NEEDS_CLANG();
  EngineCase c = brief(acoustic_case(layered_domain(2), 4));
  c.steps = 1;
  for (const int sm : {80, 90}) {
    CAPTURE(sm);
    passes::Compilation compilation;
    SimSetup setup = setup_for(equations::acoustic(), c, compilation, sm);
    setup.mode = Mode::check;
    // The last kernel is the update: u_next from u.
    const std::string last = setup.program.kernels.back().name;
    const auto put = [&](sim::Launch& launch, const std::string& parameter, std::int64_t change,
                         const std::string& from) {
      if (launch.kernel->name != last) return;
      const auto find = [&](const std::string& name) {
        const auto& all = launch.kernel->parameters;
        const auto place =
            std::find_if(all.begin(), all.end(), [&](const auto& p) { return p.name == name; });
        REQUIRE(place != all.end());
        return *place;
      };
      std::int64_t value = 0;
      std::memcpy(&value, launch.arguments.data() + find(from).offset, find(from).bytes);
      value += change;
      std::memcpy(launch.arguments.data() + find(parameter).offset, &value, find(parameter).bytes);
    };
    const auto begins = [&](const std::string& kind) {
      bool any = false;
      for (const sim::Finding& finding : setup.record->findings)
        any = any || finding.text.starts_with(kind + ": kernel " + last + ", line ");
      setup.record->findings.clear();
      return any;
    };
    setup.plant = [&](sim::Launch& launch) { put(launch, "end_z", 8, "end_z"); };
    sim_fields(compilation, c, setup);
    CHECK(begins("out of bounds"));
    setup.plant = [&](sim::Launch& launch) { put(launch, "u_next", 0, "u"); };
    sim_fields(compilation, c, setup);
    CHECK(begins("race"));
    setup.plant = [&](sim::Launch& launch) { put(launch, "u_next", 0, "u_next"); };
    sim_fields(compilation, c, setup);
    CHECK(found(setup) == "");
  }
}

TEST_CASE(
    "cuda-sim's executor = host, bitwise: acoustic in layers, fast, shuffled and checked; nothing is found") {
  ONDULA_NEEDS_CLANG();
  for (int dims = 1; dims <= 3; ++dims)
    check_modes(equations::acoustic(), brief(acoustic_case(layered_domain(dims), 4)), 80);
  check_modes(equations::acoustic(), brief(acoustic_case(layered_domain(3), 4)), 90);
}

TEST_CASE(
    "cuda-sim's executor = host, bitwise: density and elastic in layers, fast, shuffled and checked; none "
    "found") {
  ONDULA_NEEDS_CLANG();
  check_modes(equations::acoustic_density(), brief(density_case(layered_domain(2), 8)), 90);
  check_modes(equations::elastic(), brief(elastic_case(layered_domain(2), 4)), 80);
  check_modes(equations::elastic(), brief(elastic_case(layered_domain(3), 2)), 90);
}

}  // namespace ondula::test
