// The speed of the Rayleigh wave along a free surface.
// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "equations/equations.hpp"
#include "tests/equations/energy.hpp"
#include "tests/runtime/jit/support.hpp"

namespace ondula::test {
namespace {

using std::numbers::pi;

constexpr double vp = 3000, vs = 1732.0508, spacing = 10;
constexpr std::int64_t per_wavelength = 20, depth = 100;

/// The root of (2 - c^2/vs^2)^2 = 4 sqrt(1 - c^2/vp^2) sqrt(1 - c^2/vs^2), by bisection.
double rayleigh_speed() {
  const auto secular = [](double c) {
    const double p = std::sqrt(1 - c * c / (vp * vp)), s = std::sqrt(1 - c * c / (vs * vs));
    return std::pow(1 + s * s, 2) - 4 * p * s;
  };
  double low = 0.5 * vs, high = 0.9999 * vs;
  for (int i = 0; i < 100; ++i) {
    const double middle = (low + high) / 2;
    (secular(middle) < 0 ? low : high) = middle;
  }
  return low;
}

/// v.z and v.x of the wave with one wavelength along x, z down from the surface, by component and depth.
double eigenfunction(bool vertical, double z) {
  const double k = 2 * pi / (static_cast<double>(per_wavelength) * spacing), c = rayleigh_speed();
  const double q = std::sqrt(1 - c * c / (vp * vp)), s = std::sqrt(1 - c * c / (vs * vs));
  if (vertical) return q * (std::exp(-q * k * z) - 2 / (s * s + 1) * std::exp(-s * k * z));
  return std::exp(-q * k * z) - 2 * q * s / (s * s + 1) * std::exp(-s * k * z);
}

/// A standing wave, its amplitude read off by projection on itself: body waves are orthogonal to it.
double measured_speed(int order) {
  EngineCase c;
  c.domain = layered({depth, per_wavelength}, 0);
  c.domain.faces = {{{FaceKind::free_surface, FaceKind::rigid}, {FaceKind::periodic, FaceKind::periodic}}};
  c.order = order;
  c.models = {{"vp", {vp}}, {"vs", {vs}}, {"rho", {2000}}};
  Fields wave;
  const double k = 2 * pi / static_cast<double>(per_wavelength);
  for (std::int64_t i = 0; i < depth; ++i) {
    for (std::int64_t j = 0; j < per_wavelength; ++j) {
      const auto z = static_cast<double>(i), x = static_cast<double>(j);
      wave["v.z"].push_back(i + 1 < depth ? eigenfunction(true, (z + 0.5) * spacing) * std::cos(k * x) : 0);
      wave["v.x"].push_back(eigenfunction(false, z * spacing) * std::sin(k * (x + 0.5)));
    }
  }
  Running running = on_host(equations::elastic(), c);
  running.set_fields(wave);
  std::vector<double> amplitude;
  for (int n = 0; n < 1200; ++n) {
    running.steps(1);
    double sum = 0;
    for (const auto& [name, values] : wave) {
      const auto now = running.engine->field(name, 0);
      for (std::size_t p = 0; p < values.size(); ++p) {
        const bool row = name == "v.x" && p < static_cast<std::size_t>(per_wavelength);
        sum += (row ? 0.5 : 1.0) * values[p] * now[p];
      }
    }
    amplitude.push_back(sum);
  }
  // a(n + m) + a(n - m) = 2 cos(m omega dt) a(n), m a sixth of a period, in least squares.
  const double omega = 2 * pi * rayleigh_speed() / (static_cast<double>(per_wavelength) * spacing);
  const auto m = static_cast<std::size_t>(pi / (3 * omega * c.dt));
  double above = 0, below = 0;
  for (std::size_t n = m; n + m < amplitude.size(); ++n) {
    above += (amplitude[n + m] + amplitude[n - m]) * amplitude[n];
    below += 2 * amplitude[n] * amplitude[n];
  }
  return rayleigh_speed() * std::acos(above / below) / (static_cast<double>(m) * omega * c.dt);
}

}  // namespace

TEST_CASE("elastic: the Rayleigh wave's speed is within 1 % at 20 points per wavelength") {
  ONDULA_NEEDS_CLANG();
  CHECK(rayleigh_speed() / vs == doctest::Approx(0.9194).epsilon(1e-4));  // of a Poisson solid
  std::string found;
  for (const int order : {2, 4, 8, 16}) {
    CAPTURE(order);
    const double error = measured_speed(order) / rayleigh_speed() - 1;
    CHECK(std::fabs(error) < 0.01);
    found += fmt::format(" {:+.2f} %", 100 * error);
  }
  MESSAGE("orders 2, 4, 8, 16:" << found);
}

}  // namespace ondula::test
