// Elastic traces against exact motions: whole spaces under forces and moments, Garvin's and Lamb's half
// spaces. SPDX-License-Identifier: MIT
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <fstream>
#include <functional>
#include <numbers>
#include <sstream>

#include "runtime/moment.hpp"
#include "tests/support/compare.hpp"
#include "tests/support/environment.hpp"
#include "tests/support/skip.hpp"
#include "tests/verification/elastic_solutions.hpp"
#include "tests/verification/setup.hpp"

using namespace ondula;
using namespace ondula::test;

namespace {

constexpr double frequency = 10, delay = 1.3 / frequency;
constexpr double wavelength = 100;  // m, of S at the peak frequency
const Solid rock{1700, 1000, 2200};
const Solid quarter{1000 * std::sqrt(3.0), 1000, 2200};  // Poisson's ratio 1/4

using Motion = std::vector<std::vector<double>>;           // per component, in axis order
using Exact = std::function<std::vector<double>(double)>;  // all components at a time (s)

const Signal wavelet = ricker_signal(frequency, delay);

/// A source in a homogeneous medium and receivers of all components.
struct Experiment {
  Solid solid;
  SourceKind kind = SourceKind::force;
  std::vector<double> components;
  std::vector<double> from;             // m, from the grid's origin
  std::vector<std::vector<double>> to;  // likewise
  std::vector<double> size;             // m, of the grid
  double seconds = 0;
  bool surface = false;  // free on z-, where z = 0
  Signal signal = wavelet;
};

struct Run {
  double dt = 0, offset = 0;     // s; a sample k of velocity is at k dt + offset
  std::vector<Motion> velocity;  // per receiver
};

/// On spacing h, float32, order 8, alpha dt/h = 0.08; layers on every other face, of 20 cells in 2-D and 10
/// in 3-D.
Run run(const Experiment& e, double h) {
  const std::size_t dims = e.from.size();
  std::vector<std::int64_t> shape;
  for (const double s : e.size) shape.push_back(std::llround(s / h) + 1);
  Grid g = grid(shape, h, {FaceKind::absorbing, dims == 2 ? 20 : 10});
  if (e.surface) g.faces[0][0] = free_surface;
  Run result;
  result.dt = 0.08 * h / e.solid.alpha;
  const auto steps = static_cast<std::int64_t>(e.seconds / result.dt);
  PropagatorOptions o = options(result.dt, steps, 8);
  o.dtype = DType::float32;
  Source s;
  s.kind = e.kind;
  s.components = e.components;
  s.position = e.from;
  for (std::int64_t k = 0; k < steps; ++k)
    s.wavelet.push_back(e.signal.value(static_cast<double>(k) * result.dt));
  Shot shot;
  shot.sources.push_back(s);
  for (const auto& position : e.to) {
    for (const std::string& axis : g.axes) shot.receivers.push_back({"v." + axis, position});
  }
  Propagator propagator(equations::elastic(), g, o);
  propagator.set_model("vp", e.solid.alpha);
  propagator.set_model("vs", e.solid.beta);
  propagator.set_model("rho", e.solid.rho);
  const Records records = propagator.forward({&shot, 1});
  result.offset = propagator.time_offset("v.z");
  for (std::size_t r = 0; r < e.to.size(); ++r) {
    result.velocity.emplace_back();
    for (const std::string& axis : g.axes)
      result.velocity.back().push_back(rows(records[0].at("v." + axis))[r]);
  }
  return result;
}

/// Integrated by the midpoint rule: samples at k dt again, as velocities lie half a step before.
Motion displacement(const Motion& velocity, double dt) {
  Motion result = velocity;
  for (auto& component : result) {
    double sum = 0;
    for (double& sample : component) sample = sum += dt * sample;
  }
  return result;
}

Motion exact_motion(const Exact& exact, std::size_t samples, double dt, double offset) {
  Motion result;
  for (std::size_t k = 0; k < samples; ++k) {
    const std::vector<double> at = exact(static_cast<double>(k) * dt + offset);
    result.resize(at.size());
    for (std::size_t c = 0; c < at.size(); ++c) result[c].push_back(at[c]);
  }
  return result;
}

constexpr int thinning = 8;  // still over 10 samples per period at 20 Hz and more

/// Every so many samples: the formulas take longer than the runs.
Motion thinned(const Motion& motion) {
  Motion result;
  for (const auto& component : motion) {
    result.emplace_back();
    for (std::size_t k = 0; k < component.size(); k += thinning) result.back().push_back(component[k]);
  }
  return result;
}

/// ||a - exact||/||exact|| over all components together.
double joint_error(const Motion& a, const Motion& exact) {
  std::vector<double> flat_a, flat_exact;
  for (std::size_t c = 0; c < a.size(); ++c) {
    flat_a.insert(flat_a.end(), a[c].begin(), a[c].end());
    flat_exact.insert(flat_exact.end(), exact[c].begin(), exact[c].end());
  }
  return relative_l2(flat_a, flat_exact);
}

/// The worst component's relative L2 error.
double worst_error(const Motion& a, const Motion& exact) {
  double worst = 0;
  for (std::size_t c = 0; c < a.size(); ++c) worst = std::max(worst, relative_l2(a[c], exact[c]));
  return worst;
}

/// The worst component of the only receiver's velocity on spacing h.
double velocity_error(const Experiment& e, double h, const Exact& velocity) {
  const Run found = run(e, h);
  return worst_error(found.velocity[0],
                     exact_motion(velocity, found.velocity[0][0].size(), found.dt, found.offset));
}

/// verification.md's setting: every component under 1 % at 10 points per wavelength, less at 20.
void check_setting(const Experiment& e, const Exact& velocity) {
  const double at_h = velocity_error(e, wavelength / 10, velocity);
  const double at_half = velocity_error(e, wavelength / 20, velocity);
  CHECK(at_h < 0.01);
  CHECK(at_half < at_h);
  MESSAGE(fmt::format("error {:.3f} % at h, {:.3f} % at h/2", 100 * at_h, 100 * at_half));
}

std::vector<double> minus(const std::vector<double>& a, const std::vector<double>& b) {
  return difference(a, b);
}

}  // namespace

TEST_CASE("elastic analytic: 2-D, a force, 5 S wavelengths: both components within 1 % at h and h/2") {
  Experiment e{rock, SourceKind::force, {1, 0.5}, {100, 100}, {{400, 500}}, {500, 600}, 0.77};
  for (const double shift : {0.0, 3.3}) {
    e.from = {100 + shift, 100 - shift};
    check_setting(e, [&](double t) {
      return line_force(wavelet.slope, rock, e.components, minus(e.to[0], e.from), t);
    });
  }
}

TEST_CASE("elastic analytic: 2-D, an explosion, 5 S wavelengths: both components within 1 % at h and h/2") {
  Experiment e{rock, SourceKind::moment_rate, explosion(2), {100, 100}, {{400, 500}}, {500, 600}, 0.6};
  for (const double shift : {0.0, 3.3}) {
    e.from = {100 + shift, 100 - shift};
    check_setting(e,
                  [&](double t) { return line_explosion(wavelet.slope, rock, minus(e.to[0], e.from), t); });
  }
}

TEST_CASE(
    "elastic analytic: 3-D, a force, an explosion, a double couple: all components within 1 % at h and h/2") {
  Experiment e;
  e.solid = rock;
  const auto exact = [&](double t) {
    const std::vector<double> way = minus(e.to[0], e.from);
    return e.kind == SourceKind::force
               ? point_force(wavelet.slope, rock, e.components, way, t)
               : point_moment(wavelet.value, wavelet.slope, rock, e.components, way, t);
  };
  SUBCASE("a force") { e.components = {1, 0.5, -0.7}; }
  SUBCASE("an explosion") {
    e.kind = SourceKind::moment_rate;
    e.components = explosion(3);
  }
  SUBCASE("a double couple") {
    e.kind = SourceKind::moment_rate;
    e.components = double_couple(30, 60, 40);
  }
  // Receivers off every plane of symmetry, so that no component is small: 1.3 S wavelengths, and 5.
  e.from = {20, 20, 20};
  e.to = {{60, 80, 130}};
  e.size = {80, 100, 150};
  e.seconds = 0.41;
  check_setting(e, exact);
  if (!full_matrices()) return;
  e.from = {50, 50, 50};
  e.to = {{330, 350, 330}};
  e.size = {380, 400, 380};
  e.seconds = 0.78;
  check_setting(e, exact);
}

TEST_CASE("elastic analytic: Garvin, depth 4 and offsets 0 to 16 S wavelengths: 3 % at 10 cells, 1 % at 20") {
  constexpr double depth = 4 * wavelength, margin = wavelength;
  Experiment e{rock, SourceKind::moment_rate, explosion(2), {depth, margin}, {}, {}, 2.05, true};
  e.size = {depth + margin, 18 * wavelength};
  for (const double x : {0.0, 4.0, 8.0, 16.0}) e.to.push_back({0, margin + x * wavelength});
  for (const int cells : {10, 20}) {
    const Run found = run(e, wavelength / cells);
    for (std::size_t r = 0; r < e.to.size(); ++r) {
      const double x = e.to[r][1] - margin;
      const Motion moved = thinned(displacement(found.velocity[r], found.dt));
      const Motion exact = exact_motion([&](double t) { return garvin(wavelet.value, rock, depth, x, t); },
                                        moved[0].size(), thinning * found.dt, 0);
      const double error = joint_error(moved, exact);
      CAPTURE(x);
      CHECK(error < (cells == 10 ? 0.03 : 0.01));
      MESSAGE(fmt::format("{} cells, offset {} wavelengths: {:.3f} %", cells, x / wavelength, 100 * error));
    }
  }
}

TEST_CASE("elastic analytic: Pekeris' trace of a force on the surface of a 3-D half space within 3 %") {
  Experiment e{quarter,        SourceKind::force, {1, 0, 0}, {0, 30, 30},
               {{0, 70, 120}}, {60, 100, 150},    0.37,      true};
  const double r = std::hypot(40.0, 90.0);
  const auto error = [&](int cells) {
    const Run found = run(e, wavelength / cells);
    const Motion moved = thinned(displacement(found.velocity[0], found.dt));
    const Exact exact = [&](double t) {
      return std::vector<double>{pekeris(e.signal.value, e.signal.slope, quarter, r, t)};
    };
    return relative_l2(moved[0], exact_motion(exact, moved[0].size(), thinning * found.dt, 0)[0]);
  };
  SUBCASE("the force's derivative a Ricker") {
    // The motion is the step response convolved with that derivative.
    e.signal = {[](double t) {
                  const double a = std::numbers::pi * frequency * (t - delay);
                  return (t - delay) * std::exp(-a * a);
                },
                wavelet.value, wavelet.slope};
    const double at_h = error(10), at_half = error(20);
    MESSAGE(fmt::format("10 cells {:.2f} %, 20 cells {:.2f} %", 100 * at_h, 100 * at_half));
    CHECK(at_half < 0.03);
    CHECK(at_half < at_h / 3);  // second order
  }
  SUBCASE("the force a Ricker, whose trace has more short waves") {
    const double at_half = error(20);
    CHECK(at_half < 0.04);
    if (!full_matrices()) {
      MESSAGE(fmt::format("20 cells {:.2f} %", 100 * at_half));
      return;
    }
    const double finer = error(24);
    CHECK(finer < 0.03);
    MESSAGE(fmt::format("20 cells {:.2f} %, 24 cells {:.2f} %", 100 * at_half, 100 * finer));
  }
}

TEST_CASE("elastic analytic: Pekeris' formula against the surface trace of data/reference") {
  const auto path = data_path("reference/lamb3d/lamb-2_sg2.ref");
  if (!path) ONDULA_SKIP("no data/reference/lamb3d/lamb-2_sg2.ref under ONDULA_DATA");
  // Time, x, y, z (down) of a unit vertical force 51480 t^7 (1-t)^7, 0 < t < 1, at 4 m along x and along y;
  // all of rho, beta and mu are 1. The record ends before S.
  const auto bump = [](double t) { return t <= 0 || t >= 1 ? 0 : 51480 * std::pow(t * (1 - t), 7); };
  const auto slope = [](double t) {
    return t <= 0 || t >= 1 ? 0 : 51480 * 7 * std::pow(t * (1 - t), 6) * (1 - 2 * t);
  };
  std::ifstream file(*path);
  std::vector<double> stated, formula;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('#')) continue;
    std::istringstream columns(line);
    double t = 0, x = 0, y = 0, z = 0;
    REQUIRE(static_cast<bool>(columns >> t >> x >> y >> z));
    stated.push_back(z);
    formula.push_back(pekeris(bump, slope, {std::sqrt(3.0), 1, 1}, 4 * std::sqrt(2.0), t));
  }
  REQUIRE(stated.size() == 216);
  const double error = relative_l2(formula, stated);
  CHECK(error < 1e-3);
  MESSAGE(fmt::format("error {:.2e}", error));
}
