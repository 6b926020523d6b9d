// Long runs inside absorbing layers: the field leaves and nothing grows.
// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <span>

#include "tests/support/compare.hpp"
#include "tests/support/environment.hpp"
#include "tests/verification/setup.hpp"

using namespace ondula;
using namespace ondula::test;

namespace {

/// max|u| at every `every`-th step and at the end.
std::vector<double> sizes(const Grid& g, const PropagatorOptions& o, const std::vector<double>& vp,
                          const Shot& shot, std::int64_t every) {
  Propagator propagator(equations::acoustic(), g, o);
  propagator.set_model("vp", vp);
  std::vector<double> result;
  propagator.on_step(every, [&](const StepView& view) { result.push_back(max_abs(view.field("u"))); });
  propagator.forward({&shot, 1});
  result.push_back(max_abs(propagator.state().at("u")));
  return result;
}

Shot centred(const Grid& g, double frequency, double dt) {
  std::vector<double> centre;
  for (std::size_t a = 0; a < g.shape.size(); ++a) {
    centre.push_back(g.spacing[a] * static_cast<double>(g.shape[a] / 2));
  }
  Shot shot;
  shot.sources.push_back(
      source(centre, ricker_wavelet(frequency, 1.5 / frequency, dt, std::llround(3 / frequency / dt))));
  return shot;
}

}  // namespace

TEST_CASE("decay: 2-D, velocity 1500 + 100 randn m/s, 10 s: the field dies away") {
  const Grid g = grid({101, 101}, 5, {FaceKind::absorbing, 20});
  Random random(20);
  std::vector<double> vp;
  for (int i = 0; i < 101 * 101; ++i) vp.push_back(1500 + 100 * random.normal());
  const double dt = 1e-3;
  for (const DType dtype : {DType::float64, DType::float32}) {
    PropagatorOptions o = options(dt, 10000, 8);
    o.dtype = dtype;
    const auto size = sizes(g, o, vp, centred(g, 25, dt), 100);
    const double peak = max_abs(size);
    // What remains at last is the layer's own, slow beside 1/f_c; it swings while it falls, hence whole
    // windows.
    const auto largest = [&](int from, int to) {
      return max_abs(std::span(size).subspan(from * 10, (to - from) * 10));
    };
    CHECK(size[20] < 1e-4 * peak);
    CHECK(largest(4, 7) < 0.5 * largest(2, 4));
    CHECK(largest(7, 10) < 0.5 * largest(4, 7));
    CHECK(size.back() < 1e-5 * peak);
    MESSAGE(fmt::format("{}: over the peak at 1, 2, 5, 10 s: {:.1e} {:.1e} {:.1e} {:.1e}",
                        dtype == DType::float64 ? "float64" : "float32", size[10] / peak, size[20] / peak,
                        size[50] / peak, size.back() / peak));
  }
}

TEST_CASE("decay: a homogeneous model in layers of 10 cells, 0.99 of the limit, 20,000 steps, all orders") {
  for (int dims = 1; dims <= 2; ++dims) {
    std::string found;
    for (int order = 2; order <= 16; order += 2) {
      const Grid g =
          grid(std::vector<std::int64_t>(static_cast<std::size_t>(dims), 25), 10, {FaceKind::absorbing, 10});
      const std::vector<double> vp(dims == 1 ? 25 : 625, 2000.0);
      const double dt = 0.99 * acoustic_limit(order, dims, 10, 2000);
      const auto size = sizes(g, options(dt, 20000, order), vp, centred(g, 15, dt), 2000);
      const double peak = max_abs(size);
      CAPTURE(dims);
      CAPTURE(order);
      CHECK(size.back() < 1e-5 * peak);
      for (std::size_t i = 2; i < size.size(); ++i) CHECK(size[i] < size[1]);
      found += fmt::format(" {:.0e}", size.back() / size[1]);
    }
    MESSAGE(dims << "-D, the end over step 2000:" << found);
  }
}
