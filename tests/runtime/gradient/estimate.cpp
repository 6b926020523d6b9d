// What a gradient takes of the device, foretold.
// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "runtime/propagator.hpp"
#include "tests/runtime/gradient/problem.hpp"
#include "tests/runtime/jit/support.hpp"

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
