// Water over rock, and air over water: cells without shear strength among others.
// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "equations/equations.hpp"
#include "tests/equations/energy.hpp"
#include "tests/runtime/jit/support.hpp"
#include "tests/support/compare.hpp"

namespace ondula::test {
namespace {

struct Layer {
  double vp, vs, rho;
};

/// `above` over `below`, the contact half way down between two nodes at every refinement.
EngineCase halves(const Layer& above, const Layer& below, const std::vector<std::int64_t>& shape,
                  std::int64_t contact) {
  EngineCase c;
  c.domain = layered(shape, 12);
  for (auto* model : {"vp", "vs", "rho"}) {
    const auto value = [&](const Layer& l) {
      return std::string(model) == "vp" ? l.vp : std::string(model) == "vs" ? l.vs : l.rho;
    };
    for (std::int64_t i = 0; i < shape[0]; ++i) {
      c.models[model].insert(c.models[model].end(), static_cast<std::size_t>(shape[1]),
                             value(i < contact ? above : below));
    }
  }
  return c;
}

constexpr Layer water{1500, 0, 1000}, rock{3000, 1700, 2300}, air{340, 0, 1.2};

/// Pressure -(s.zz + s.xx)/2 100 m above the contact of sea and rock, sampled every 4 ms for 0.6 s, on a grid
/// `refined` times as fine as 20 m. Nodes stand half a spacing off the contact; source and receiver are
/// interpolated between two of them across z, which are images of each other at every refinement.
std::vector<double> pressure(int refined) {
  const std::int64_t n = 60 * refined, contact = n / 2;
  EngineCase c = halves(water, rock, {n, n}, contact);
  for (double& h : c.domain.spacing) h = 20.0 / refined;
  c.dt = 2e-3 / refined;
  c.layer_frequency = 8;
  Running running = on_host(equations::elastic(), c, 2);
  // The depth 100 m above the contact is between nodes contact - 5 refined - 1 and the next.
  const auto taps = [&](std::int64_t along) {
    std::vector<ir::Tap> result;
    for (const std::int64_t dz : {-1, 0}) {
      result.push_back(
          {{c.domain.pad[0][0] + contact - 5 * refined + dz, c.domain.pad[1][0] + along, 0}, 0.5});
    }
    return result;
  };
  std::vector<double> wavelet;
  for (int k = 0; k * c.dt < 0.4; ++k) {
    const double a = std::pow(std::numbers::pi * 8 * (k * c.dt - 0.18), 2);
    wavelet.push_back(static_cast<double>(refined) * (1 - 2 * a) * std::exp(-a));
  }
  running.engine->set_points(
      {{"s.zz", taps(25 * refined), wavelet, true}, {"s.xx", taps(25 * refined), wavelet, true}},
      {{"s.zz", taps(35 * refined)}, {"s.xx", taps(35 * refined)}});
  std::vector<double> trace, samples(2);
  for (int k = 0; k < 300 * refined; ++k) {
    running.engine->step(k, samples);
    if (k % (2 * refined) == 0) trace.push_back(-(samples[0] + samples[1]) / 2);
  }
  return trace;
}

}  // namespace

TEST_CASE("A24: a sea over rock: the pressure beside the contact is finite and converges with the spacing") {
  ONDULA_NEEDS_CLANG();
  const std::vector<double> coarse = pressure(1), fine = pressure(2), finest = pressure(4);
  CHECK(max_abs(finest) > 0);
  const double first = relative_l2(coarse, fine), second = relative_l2(fine, finest);
  CHECK(std::isfinite(first));
  CHECK(second < 0.6 * first);
  CHECK(second < 0.1);
  MESSAGE(fmt::format("relative L2 between 20 and 10 m {:.3f}, between 10 and 5 m {:.3f}", first, second));
}

TEST_CASE("A24: half cells that touch water have no shear stress at all, in compiled kernels") {
  ONDULA_NEEDS_CLANG();
  for (const DType dtype : {DType::float32, DType::float64}) {
    EngineCase c = halves(water, rock, {30, 34}, 15);
    c.dtype = dtype;
    Running running = on_host(equations::elastic(), c);
    running.engine->set_field("v.x", 0,
                              std::vector<double>(static_cast<std::size_t>(c.domain.points()), 1.0));
    running.set_fields({{"v.z", padded_noise(c.domain, -1, 1, 3)}});
    running.steps(50);
    const std::vector<double> shear = running.engine->field("s.zx", 0);
    const std::int64_t width = c.domain.total(1);
    double water_shear = 0, rock_shear = 0;
    for (std::size_t p = 0; p < shear.size(); ++p) {
      const auto row = static_cast<std::int64_t>(p) / width;
      double& largest = row < c.domain.pad[0][0] + 15 ? water_shear : rock_shear;
      largest = detail::worse(largest, std::fabs(shear[p]));
    }
    CHECK(water_shear == 0);
    CHECK(rock_shear > 0);
  }
}

TEST_CASE("elastic: air over water, water over rock under a free surface stay bounded for 20,000 steps") {
  ONDULA_NEEDS_CLANG();
  for (const auto& [above, below] : {std::pair{air, water}, {water, rock}}) {
    EngineCase c = halves(above, below, {24, 20}, 12);
    c.domain.pad = {};
    c.domain.faces[0] = {FaceKind::free_surface, FaceKind::rigid};
    c.domain.faces[1] = {FaceKind::free_surface, FaceKind::free_surface};
    Running running = on_host(equations::elastic(), c);
    running.engine->set_field("v.z", 0, padded_noise(c.domain, -1, 1, 5));
    running.steps(1000);
    const double early = running.engine->magnitude();
    running.steps(20000);
    const double late = running.engine->magnitude();
    CHECK(early > 0);
    CHECK(late < 3 * early);
  }
}

}  // namespace ondula::test
