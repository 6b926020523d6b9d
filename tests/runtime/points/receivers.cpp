// Receivers that combine fields, and normal velocities at free surfaces.
// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <cmath>

#include "runtime/moment.hpp"
#include "tests/runtime/points/elastic.hpp"
#include "tests/support/compare.hpp"
#include "tests/support/messages.hpp"

using namespace ondula;
using namespace ondula::test;

namespace {

Shot shot_with(const std::vector<Receiver>& receivers) {
  Shot shot;
  shot.sources.push_back(elastic_source(SourceKind::moment_rate, {1, 0.3, 0.3, -0.5}, {200, 170}));
  shot.receivers = receivers;
  return shot;
}

const Grid square = grid({40, 42}, 10, {FaceKind::absorbing, 8});

}  // namespace

TEST_CASE("Pressure is minus the mean of the normal stresses") {
  const std::vector<double> at = {151, 286};
  const auto t =
      elastic_traces(square, shot_with({elastic_receiver("pressure", at), elastic_receiver("s.zz", at),
                                        elastic_receiver("s.xx", at)}));
  CHECK(max_abs(t[0]) > 0);
  std::vector<double> mean(t[0].size());
  for (std::size_t i = 0; i < mean.size(); ++i) mean[i] = -0.5 * (t[1][i] + t[2][i]);
  CHECK(max_abs_diff(t[0], mean) < 1e-13 * max_abs(mean));
}

TEST_CASE("Strain rates are what the stresses of the next sample have grown by, to rounding") {
  const std::vector<double> node = {150, 280}, corner = {155, 285};
  const auto t =
      elastic_traces(square, shot_with({elastic_receiver("e.zz", node), elastic_receiver("e.xx", node),
                                        elastic_receiver("s.zz", node), elastic_receiver("e.zx", corner),
                                        elastic_receiver("s.zx", corner)}));
  const double mu = elastic_rho * elastic_vs * elastic_vs, m = elastic_rho * elastic_vp * elastic_vp;
  CHECK(max_abs(t[0]) > 0);
  for (std::size_t n = 0; n + 1 < t[0].size(); ++n) {
    const double grown = (t[2][n + 1] - t[2][n]) / elastic_dt, sheared = (t[4][n + 1] - t[4][n]) / elastic_dt;
    CHECK(std::fabs(grown - m * t[0][n + 1] - (m - 2 * mu) * t[1][n + 1]) < 1e-10 * m * max_abs(t[0]));
    CHECK(std::fabs(sheared - 2 * mu * t[3][n + 1]) < 1e-10 * mu * max_abs(t[3]));
  }
}

TEST_CASE("A fibre records the strain rate along it, of any length of its direction") {
  const std::vector<double> at = {152, 281};
  const auto t = elastic_traces(
      square,
      shot_with({elastic_receiver("fibre", at, {0, 2}), elastic_receiver("fibre", at, {1, 1}),
                 elastic_receiver("e.xx", at), elastic_receiver("e.zz", at), elastic_receiver("e.zx", at)}));
  CHECK(max_abs(t[0]) > 0);
  CHECK(max_abs_diff(t[0], t[2]) == 0);
  std::vector<double> along(t[0].size());
  for (std::size_t i = 0; i < along.size(); ++i) along[i] = 0.5 * (t[2][i] + t[3][i]) + t[4][i];
  CHECK(max_abs_diff(t[1], along) < 1e-12 * max_abs(along));
}

TEST_CASE("E16: two receivers in one cell, two fields in one shot: a trace each, in their order") {
  const std::vector<double> at = {151, 286};
  const auto t = elastic_traces(square, shot_with({elastic_receiver("v.z", at), elastic_receiver("v.x", at),
                                                   elastic_receiver("v.z", at)}));
  CHECK(max_abs(t[0]) > 0);
  CHECK(max_abs_diff(t[0], t[2]) == 0);
  CHECK(max_abs_diff(t[0], t[1]) > 0);
}

TEST_CASE("Normal velocity at a free surface: exact for fields that obey the surface, on all faces alike") {
  const double mu = elastic_rho * elastic_vs * elastic_vs,
               lambda = elastic_rho * elastic_vp * elastic_vp - 2 * mu;
  const double k = 0.01, v0 = 3, q = 1e-4;
  for (int axis = 0; axis < 2; ++axis) {
    for (int side = 0; side < 2; ++side) {
      CAPTURE(axis);
      CAPTURE(side);
      Grid g = grid({30, 30}, 10);
      g.faces[static_cast<std::size_t>(axis)][static_cast<std::size_t>(side)] = free_surface;
      Propagator p(equations::elastic(), g, options(elastic_dt, 1, 4));
      p.set_model("vp", elastic_vp);
      p.set_model("vs", elastic_vs);
      p.set_model("rho", elastic_rho);
      const auto a = static_cast<std::size_t>(axis);
      // v_t = k t, v_n = v0 - lambda/(lambda + 2 mu) k n + q n^2, n the coordinate from the surface.
      const auto depth = [&](double cells) { return 10 * (side == 0 ? cells : cells - 29); };
      const auto normal = [&](double n) { return v0 - lambda / (lambda + 2 * mu) * k * n + q * n * n; };
      p.set_initial(axis == 0 ? "v.z" : "v.x", on_nodes(g, [&](const std::vector<std::int64_t>& i) {
                      return normal(depth(static_cast<double>(i[a]) + 0.5));
                    }));
      p.set_initial(axis == 0 ? "v.x" : "v.z", on_nodes(g, [&](const std::vector<std::int64_t>& i) {
                      return k * 10 * (static_cast<double>(i[1 - a]) + 0.5);
                    }));
      Shot shot;
      for (const double cell : {0.0, 0.3, 1.0, 2.7}) {
        std::vector<double> at(2, 150);
        at[a] = side == 0 ? 10 * cell : 290 - 10 * cell;
        shot.receivers.push_back(elastic_receiver(axis == 0 ? "v.z" : "v.x", at));
      }
      const auto found = rows(p.forward({&shot, 1})[0].begin()->second);
      CHECK(found[0][0] == doctest::Approx(v0).epsilon(1e-12));
      for (std::size_t r = 1; r < 4; ++r) {
        const double exact = normal(depth(shot.receivers[r].position[a] / 10));
        CHECK(std::fabs(found[r][0] - exact) < 2e-3 * v0);
      }
    }
  }
}

TEST_CASE("E2: positions of half-cell fields have the grid's own range") {
  for (const char* field : {"v.z", "v.x", "s.zx"}) {
    CAPTURE(field);
    CHECK_NOTHROW(elastic_traces(square, shot_with({elastic_receiver(field, {390, 410})})));
    CHECK_THROWS_AS(elastic_traces(square, shot_with({elastic_receiver(field, {390, 411})})), UserError);
    CHECK_THROWS_AS(elastic_traces(square, shot_with({elastic_receiver(field, {-1, 410})})), UserError);
  }
}

TEST_CASE("E3: receivers of fields an equation lacks, and fibres without a direction, are refused by name") {
  const auto message = [](const Receiver& r) {
    return refusal([&] { elastic_traces(square, shot_with({r})); });
  };
  CHECK(message(elastic_receiver("u", {10, 10})).find("pressure") != std::string::npos);
  CHECK(message(elastic_receiver("e.yy", {10, 10})).find("e.zx") != std::string::npos);
  CHECK(message(elastic_receiver("fibre", {10, 10})).find("direction") != std::string::npos);
  CHECK(message(elastic_receiver("fibre", {10, 10}, {0, 0})).find("direction") != std::string::npos);
}
