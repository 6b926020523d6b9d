// Elastic waves at the stability limit and, in substeps, past it.
// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>

#include "tests/support/compare.hpp"
#include "tests/support/environment.hpp"
#include "tests/verification/setup.hpp"

using namespace ondula;
using namespace ondula::test;

namespace {

/// 11 cells along every axis of `dims`.
Propagator small_box(int dims, int order, const Face& face, double dt, std::int64_t steps,
                     std::optional<int> substeps) {
  PropagatorOptions o = options(dt, steps, order);
  o.substeps = substeps;
  const std::vector<std::int64_t> shape(static_cast<std::size_t>(dims), 11);
  Propagator propagator(equations::elastic(), grid(shape, 10, face), o);
  propagator.set_model("vp", 2000.0);
  propagator.set_model("vs", 1150.0);
  propagator.set_model("rho", 2200.0);
  return propagator;
}

/// An oblique force near the middle, its record of a velocity near a corner.
Shot oblique(int dims, double dt) {
  const auto n = static_cast<std::size_t>(dims);
  Shot shot;
  Source s;
  s.kind = SourceKind::force;
  s.components = std::vector<double>(n, 1.0);
  s.components[0] = 2;
  s.position = std::vector<double>(n, 50.0);
  s.wavelet = ricker_wavelet(0.1 / dt, 15 * dt, dt, 30);
  shot.sources.push_back(s);
  Receiver r;
  r.field = "v.z";
  r.position = std::vector<double>(n, 20.0);
  shot.receivers.push_back(r);
  return shot;
}

double limit_of(int dims, int order, const Face& face) {
  const Propagator propagator = small_box(dims, order, face, 1e-4, 10, 1);
  const Shot shot = oblique(dims, 1e-4);
  return propagator.estimate({&shot, 1}).cfl_limit;
}

/// How much larger the last quarter of the record is than the first half.
double growth(int dims, int order, const Face& face, double dt, double seconds, std::optional<int> substeps) {
  Propagator propagator = small_box(dims, order, face, dt, static_cast<std::int64_t>(seconds / dt), substeps);
  const Shot shot = oblique(dims, dt);
  const auto trace = propagator.forward({&shot, 1})[0].at("v.z").data;
  const double head = max_abs(std::span(trace).first(trace.size() / 2));
  CHECK(head > 0);
  return max_abs(std::span(trace).last(trace.size() / 4)) / head;
}

constexpr Face layers{FaceKind::absorbing, 3};

}  // namespace

TEST_CASE(
    "A1: elastic, 11^n cells, orders 2 to 16, 20 s at 0.99 of the limit: bounded; past it: refused, or "
    "substepped") {
  // Walls and free surfaces keep all energy, so nothing hides growth; layers of 3 cells. 3-D runs last 20 s
  // with --full, else 1 s.
  double worst = 0;
  for (int dims = 1; dims <= 3; ++dims) {
    const double seconds = dims < 3 || full_matrices() ? 20 : 1;
    for (const int order : {2, 4, 8, 16}) {
      for (const Face& face : {rigid, free_surface, layers}) {
        CAPTURE(dims);
        CAPTURE(order);
        CAPTURE(static_cast<int>(face.kind));
        const double limit = limit_of(dims, order, face);
        CHECK(limit > 0);
        const double kept = growth(dims, order, face, 0.99 * limit, seconds, 1);
        const double substepped = growth(dims, order, face, 1.05 * limit, seconds, std::nullopt);
        const double coarse = growth(dims, order, face, 3.3 * limit, seconds, std::nullopt);
        for (const double found : {kept, substepped, coarse}) worst = detail::worse(worst, found);
      }
      const double limit = limit_of(dims, order, rigid);
      Propagator over = small_box(dims, order, rigid, 1.05 * limit, 50, 1);
      const Shot shot = oblique(dims, limit);
      try {
        over.forward({&shot, 1});
        FAIL_CHECK("1.05 of the limit was not refused");
      } catch (const UserError& error) {
        const std::string text = error.what();
        CAPTURE(text);
        CHECK(text.find(fmt::format("{:.6g}", limit)) != std::string::npos);
        CHECK(text.find(fmt::format("{:.6g}", 1.05 * limit)) != std::string::npos);
      }
    }
  }
  CHECK(worst < 2);
  MESSAGE(fmt::format("the last quarter of a record is at most {:.2f} of its first half", worst));
}
