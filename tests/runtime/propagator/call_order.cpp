// Forward runs, gradients and linearised modelling on one Propagator, in any order.
// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "runtime/misfit.hpp"
#include "tests/runtime/propagator/small.hpp"

namespace ondula::test {
namespace {

/// What each call gives on a Propagator of its own, against what it gives in a row of calls on one.
TEST_CASE("Forward, gradient and born answer alike on one Propagator, whatever went before") {
  for (const Backend backend : {Backend::host, Backend::reference}) {
    PropagatorOptions options = small_options();
    options.backend = backend;
    const std::vector<Shot> shots{small_shot(1)};
    const auto fresh = [&](double speed) {
      Propagator propagator(equations::acoustic(), small_grid(1), options);
      propagator.set_model("vp", speed);
      return propagator;
    };
    const Records observed = fresh(1900).forward(shots);
    const MisfitFunction misfit = misfit_against(observed, shots, {}, {0, options.dt, {}});
    const std::map<std::string, std::vector<double>> change{{"vp", std::vector<double>(24, 1.0)}};
    const auto forward = [&](Propagator& p) { return p.forward(shots).at(0).at("u").data; };
    const auto born = [&](Propagator& p) { return p.born(shots, change).at(0).at("u").data; };
    const auto gradient = [&](Propagator& p) { return p.gradient(shots, misfit).models.at("vp"); };
    Propagator a = fresh(2000), b = fresh(2000), c = fresh(2000), one = fresh(2000);
    const auto records = forward(a), tangent = born(b), slope = gradient(c);
    for (int round = 0; round < 2; ++round) {
      CHECK(forward(one) == records);
      CHECK(gradient(one) == slope);
      CHECK(born(one) == tangent);
      CHECK(gradient(one) == slope);
      CHECK(gradient(one) == slope);
      CHECK(forward(one) == records);
      CHECK(born(one) == tangent);
      one.set_model("vp", 2100.0);
      CHECK(gradient(one) != slope);
      one.set_model("vp", 2000.0);
    }
  }
}

}  // namespace
}  // namespace ondula::test
