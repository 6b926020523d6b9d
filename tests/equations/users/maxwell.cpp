// Users' Maxwell's equations: plane waves in a medium that conducts, and a cavity of perfectly conducting
// walls. SPDX-License-Identifier: MIT
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "tests/equations/users/users.hpp"
#include "tests/runtime/jit/support.hpp"

namespace ondula::test {
namespace {

constexpr Complex i{0, 1};
constexpr double epsilon = 5 * 8.854e-12, mu = 1.2566e-6, sigma = 0.004;

}  // namespace

TEST_CASE("users' equations: a plane wave in a conducting medium, in two and three dimensions") {
  ONDULA_NEEDS_CLANG();
  for (const int dims : {2, 3}) {
    for (const double spacing : {0.05, 0.15}) {
      Box box{.equation = user_equation(dims == 2 ? "maxwell_tm" : "maxwell"),
              .dims = dims,
              .nodes = 40,
              .spacing = spacing,
              .models = {{"epsilon", epsilon}, {"mu", mu}, {"sigma", sigma}},
              .half = {dims == 2 ? "h.x" : "h.y"},
              .recorded = dims == 2 ? "e" : "e.x"};
      const double k = wavenumber(box);
      // -w^2 mu epsilon + i w mu sigma + k^2 = 0
      const double fade = sigma / (2 * epsilon);
      Mode mode{Complex(std::sqrt(k * k / (mu * epsilon) - fade * fade), fade), {}};
      const Complex w = mode.omega;
      // mu h_x' = d_z e_y; mu h_y' = -d_z e_x
      mode.amplitudes = {{box.recorded, 1}, {box.half[0], (dims == 2 ? 1.0 : -1.0) * k / (w * mu)}};
      double distance = 0;
      const Complex found = measured(box, mode, 0.5, 200, &distance);
      const double decay = found.imag() / w.imag() - 1, speed = found.real() / w.real() - 1;
      MESSAGE(fmt::format("{}-D, {:.3g} MHz: decay {:+.1e}, speed {:+.1e}, record {:.1e}", dims,
                          w.real() / 6.283185e6, decay, speed, distance));
      CHECK(std::fabs(decay) < 0.01);
      CHECK(std::fabs(speed) < 0.01);
      CHECK(distance < 0.02);
    }
  }
}

TEST_CASE("users' equations: rigid walls are perfect electric conductors: a cavity rings at its frequency") {
  ONDULA_NEEDS_CLANG();
  const double h = 0.05;
  const std::int64_t nz = 21, nx = 31;
  Grid grid{.axes = {"z", "x"}, .shape = {nz, nx}, .spacing = {h, h}, .origin = {0, 0}};
  grid.faces.assign(2, {Face{FaceKind::rigid, 0}, Face{FaceKind::rigid, 0}});
  const double kz = std::numbers::pi / (static_cast<double>(nz - 1) * h),
               kx = 2 * std::numbers::pi / (static_cast<double>(nx - 1) * h);
  const double w = std::sqrt((kz * kz + kx * kx) / (mu * epsilon));
  PropagatorOptions options;
  options.dt = 2e-11;
  options.steps = 2000;
  options.substeps = 1;
  options.dtype = DType::float64;
  Propagator run(user_equation("maxwell_tm"), grid, options);
  run.set_model("epsilon", epsilon);
  run.set_model("mu", mu);
  run.set_model("sigma", 0.0);
  std::vector<double> e, hx, hz;
  const double phase = std::sin(w * -options.dt / 2) / (w * mu);  // mu h_x' = d_z e, mu h_z' = -d_x e
  for (std::int64_t a = 0; a < nz; ++a) {
    for (std::int64_t b = 0; b < nx; ++b) {
      const double z = static_cast<double>(a) * h, x = static_cast<double>(b) * h;
      e.push_back(std::sin(kz * z) * std::sin(kx * x));
      hx.push_back(a + 1 < nz ? phase * kz * std::cos(kz * (z + h / 2)) * std::sin(kx * x) : 0);
      hz.push_back(b + 1 < nx ? -phase * kx * std::sin(kz * z) * std::cos(kx * (x + h / 2)) : 0);
    }
  }
  run.set_initial("e", e);
  run.set_initial("h.x", hx);
  run.set_initial("h.z", hz);
  const std::vector<Shot> shots{
      Shot{.sources = {}, .receivers = {Receiver{.field = "e", .position = {10 * h, 8 * h}}}}};
  const std::vector<double> found = run.forward(shots).front().at("e").data;
  double worst = 0;
  for (std::size_t n = 0; n < found.size(); ++n) {
    const double expected =
        e[10 * static_cast<std::size_t>(nx) + 8] * std::cos(w * static_cast<double>(n) * options.dt);
    worst = std::max(worst, std::fabs(found[n] - expected));
  }
  MESSAGE(fmt::format("{:.1f} periods: largest difference {:.1e}",
                      w * 2000 * options.dt / (2 * std::numbers::pi), worst));
  CHECK(worst < 5e-3);
}

}  // namespace ondula::test
