// What a gradient takes of the device, foretold.
// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "runtime/propagator.hpp"
#include "tests/runtime/gradient/problem.hpp"
#include "tests/runtime/jit/support.hpp"
#include "tests/support/temporary_directory.hpp"

namespace ondula::test {

TEST_CASE("a gradient's device memory is what estimate says, to the byte, and a repeat takes no more") {
  ONDULA_NEEDS_CLANG();
  for (const char* equation : {"acoustic", "acoustic_density", "elastic"}) {
    for (const int dims : {2, 3}) {
      Setting s;
      s.equation = equation;
      s.dims = dims;
      s.order = 4;
      s.faces = "fl";
      s.substeps = 2;
      CAPTURE(text(s));
      const Problem p = random_problem(s);
      Propagator propagator = p.propagator();
      const Estimate estimate = propagator.estimate(p.shots);
      CHECK(estimate.gradient_refusal == "");
      const MisfitFunction none = [](std::int64_t, const std::map<std::string, Traces>&) { return Misfit{}; };
      propagator.gradient(p.shots, none);
      CHECK(propagator.device_bytes_peak() == estimate.gradient_device_bytes);
      CHECK(estimate.history_bytes < estimate.gradient_device_bytes);
      propagator.gradient(p.shots, none);
      CHECK(propagator.device_bytes_peak() == estimate.gradient_device_bytes);
    }
  }
}

TEST_CASE("estimate's bytes of every tier are what is allocated: full, boundary, segments, Revolve") {
  ONDULA_NEEDS_CLANG();
  const TemporaryDirectory scratch;
  const MisfitFunction none = [](std::int64_t, const std::map<std::string, Traces>&) { return Misfit{}; };
  const auto compiler = make_compiler();
  for (const char* equation : {"acoustic", "acoustic_density", "elastic"}) {
    for (const Storage keep : {Storage::full, Storage::boundary}) {
      for (const Checkpoints plan : {Checkpoints{}, Checkpoints{Checkpoints::Kind::segments, 3},
                                     Checkpoints{Checkpoints::Kind::revolve, 3}}) {
        for (const Tier tier : {Tier::device, Tier::host, Tier::disk}) {
          Setting s;
          s.equation = equation;
          s.order = 4;
          s.faces = "l";
          s.steps = 40;
          CAPTURE(text(s));
          CAPTURE(static_cast<int>(keep));
          CAPTURE(static_cast<int>(plan.kind));
          CAPTURE(static_cast<int>(tier));
          Problem p = random_problem(s);
          p.options.compiler = compiler;
          p.options.storage = {keep, plan, tier, tier, scratch.path().string()};
          Propagator propagator = p.propagator();
          const Estimate estimate = propagator.estimate(p.shots);
          CHECK(estimate.gradient_refusal == "");
          propagator.gradient(p.shots, none);
          const TierBytes found = propagator.bytes_peak();
          CHECK(found.device == estimate.gradient_device_bytes);
          CHECK(found.host == estimate.gradient_host_bytes);
          CHECK(found.disk == estimate.gradient_disk_bytes);
          CHECK((found.disk > 0) == (tier == Tier::disk));
          CHECK((found.host > 0) == (tier != Tier::device && estimate.checkpoint_bytes > 0));
          CHECK(estimate.history_bytes % estimate.step_bytes == 0);
          CHECK(estimate.checkpoint_bytes % estimate.state_bytes == 0);
        }
      }
    }
  }
}

TEST_CASE("estimate says why there is no gradient") {
  Setting s;
  s.backend = Backend::host;
  Problem p = random_problem(s);
  p.options.storage.keep = Storage::none;
  p.options.compile_later = true;
  const Propagator propagator = p.propagator();
  const Estimate estimate = propagator.estimate(p.shots);
  CHECK(estimate.gradient_refusal == "its storage is off");
  CHECK(estimate.gradient_device_bytes == 0);
}

}  // namespace ondula::test
