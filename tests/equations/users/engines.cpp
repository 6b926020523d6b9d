// Users' equations on every engine: host against the reference, CUDA text against the host's bits; storage.
// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>

#include "tests/equations/users/users.hpp"
#include "tests/runtime/device/cuda/on_sim.hpp"
#include "tests/runtime/jit/support.hpp"
#include "tests/runtime/storage/plans.hpp"
#include "tests/support/compare.hpp"
#include "tests/support/messages.hpp"
#include "tests/support/temporary_directory.hpp"

namespace ondula::test {
namespace {

struct Case {
  const char* name;
  int dims;
};

constexpr std::array<Case, 9> cases = {{{"damped_wave", 2},
                                        {"viscoacoustic", 1},
                                        {"viscoacoustic", 2},
                                        {"viscoelastic", 2},
                                        {"vti_acoustic", 2},
                                        {"elastic_vti", 2},
                                        {"elastic_orthorhombic", 3},
                                        {"maxwell_tm", 2},
                                        {"maxwell", 3}}};

/// The largest difference of records and gradients, each array relative to its own largest value.
double worst_of(const Everything& found, const Everything& expected) {
  double worst = 0;
  for (std::size_t s = 0; s < expected.records.size(); ++s) {
    for (const auto& [field, traces] : expected.records[s]) {
      if (max_abs(traces.data) == 0) continue;
      worst = detail::worse(
          worst, max_abs_diff(found.records[s].at(field).data, traces.data) / max_abs(traces.data));
    }
  }
  return detail::worse(worst, worst_difference(found.gradient.models, expected.gradient.models));
}

}  // namespace

TEST_CASE("users' equations: the host's records and gradients are the reference's") {
  ONDULA_NEEDS_CLANG();
  double worst = 0;
  for (const Case& c : cases) {
    CAPTURE(c.name);
    CAPTURE(c.dims);
    const Problem problem = user_problem(c.name, c.dims, c.dims == 3 ? 20 : 40);
    const double difference = worst_of(everything(problem), everything(on(problem, Backend::reference)));
    CHECK(difference < 1e-12);
    worst = detail::worse(worst, difference);
  }
  MESSAGE(fmt::format("largest difference {:.1e}", worst));
}

TEST_CASE("users' equations: CUDA text gives the bits of the host's records and gradients") {
  ONDULA_NEEDS_STAND_IN();
  SimDriver driver(untouched());
  const auto compiler = sim_compiler();
  double worst = 0;
  for (const Case& c : cases) {
    CAPTURE(c.name);
    CAPTURE(c.dims);
    const Problem problem = user_problem(c.name, c.dims, c.dims == 3 ? 20 : 40);
    const double difference =
        worst_of(everything(on(problem, Backend::cuda_sim, compiler)), everything(problem));
    CHECK(difference == 0);
    worst = detail::worse(worst, difference);
  }
  MESSAGE(fmt::format("largest difference {:.1e}", worst));
}

TEST_CASE("users' equations: attenuation takes checkpoints and tiers, bit for bit, and no boundary saving") {
  ONDULA_NEEDS_CLANG();
  TemporaryDirectory scratch;
  for (const char* name : {"damped_wave", "viscoacoustic", "viscoelastic", "maxwell_tm"}) {
    CAPTURE(name);
    Problem problem = user_problem(name, 2);
    const Everything full = gradient_alone(problem);
    for (const Checkpoints& plan : {segments(3), revolve(3)}) {
      for (const Tier tier : {Tier::device, Tier::disk}) {
        CAPTURE(text(plan));
        problem.options.storage.checkpoints = plan;
        problem.options.storage.steps = problem.options.storage.states = tier;
        problem.options.storage.scratch = scratch.path().string();
        CHECK(different(gradient_alone(problem), full) == "");
      }
    }
    problem.options.storage = {.keep = Storage::boundary};
    check_mentions(
        refusal([&] { problem.propagator().gradient(problem.shots, std::vector<AdjointSources>(1)); }),
        {"no step backwards in time", "which undone would grow by as much"});
    check_mentions(problem.propagator().estimate(problem.shots).gradient_refusal,
                   {"no step backwards in time", "which undone would grow by as much"});
  }
}

}  // namespace ondula::test
