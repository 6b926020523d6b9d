// The absorbing layer against a larger domain; memory variables; media and points that need care.
// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <algorithm>

#include "equations/equations.hpp"
#include "tests/compiler/reference/setup.hpp"
#include "tests/support/compare.hpp"

namespace {

using namespace ondula;
using std::numbers::pi;

constexpr double spacing = 5, speed = 1500, dt = 5e-4, frequency = 25;

std::vector<double> ricker(int count) {
  std::vector<double> samples;
  for (int n = 0; n < count; ++n) {
    const double x = pi * frequency * (n * dt - 0.06);
    samples.push_back((1 - 2 * x * x) * std::exp(-x * x));
  }
  return samples;
}

/// Traces of three receivers in a 41 x 41 model that lies `around` cells inside a larger one, source in the
/// middle.
/// `kappa` 0 takes the program without stretching.
std::vector<double> traces(std::int64_t around, std::int64_t width, int steps,
                           const EquationDefinition& equation = equations::acoustic(), double kappa = 0) {
  const ir::Domain domain =
      test::with_layers(test::domain({41 + 2 * around, 41 + 2 * around}, spacing, FaceKind::rigid), width);
  const std::int64_t origin = around + width;
  const ir::Program program = test::program(equation, 2, 8, kappa > 0);
  const ir::LayerOptions options{
      .dt = dt, .velocity = speed, .frequency = frequency, .kappa = std::max(kappa, 1.0)};
  reference::Executor<double> executor(program, domain, {{"dt", dt}}, options);
  executor.set_parameter("vp", test::constant(domain, speed));
  if (program.find_parameter("rho") != nullptr) executor.set_parameter("rho", test::constant(domain, 1));
  const ir::PointSource source{"u", {{{origin + 20, origin + 20, 0}, 1.0}}, ricker(steps)};
  std::vector<ir::PointReceiver> receivers;
  for (const auto& [z, x] : {std::pair{5, 20}, {8, 35}, {33, 6}}) {
    receivers.push_back({"u", {{{origin + z, origin + x, 0}, 1.0}}});
  }
  std::vector<double> result, samples(receivers.size());
  for (int n = 0; n < steps; ++n) {
    executor.step(n, {&source, 1}, receivers, samples);
    result.insert(result.end(), samples.begin(), samples.end());
  }
  return result;
}

}  // namespace

TEST_CASE("reference: 20 cells of layer reflect less than -80 dB at order 8") {
  const int steps = 500;
  const auto with_layer = traces(0, 20, steps);
  const auto larger = traces(70, 20, steps);  // too far for an echo within these steps
  const double reflection = test::difference_db(with_layer, larger);
  CHECK(reflection < -80);
  CHECK(test::difference_db(traces(0, 0, steps), larger) > -20);  // rigid walls do reflect
}

TEST_CASE("reference: the layer of nested derivatives reflects less than -80 dB too") {
  const int steps = 500;
  const auto equation = equations::acoustic_density();
  CHECK(test::difference_db(traces(0, 20, steps, equation), traces(70, 20, steps, equation)) < -80);
}

TEST_CASE("reference: a layer stretched by kappa = 1 is the plain one, by kappa = 2 it still absorbs") {
  const int steps = 400;
  for (const EquationDefinition& equation : {equations::acoustic(), equations::acoustic_density()}) {
    const auto plain = traces(0, 12, steps, equation);
    CHECK(test::max_abs_diff(traces(0, 12, steps, equation, 1), plain) < 1e-12 * test::max_abs(plain));
    const double reflection =
        test::difference_db(traces(0, 20, steps, equation, 2), traces(55, 20, steps, equation));
    MESSAGE(equation.name(), ": ", reflection, " dB at kappa = 2");
    CHECK(reflection < -60);
    CHECK(reflection > -200);
  }
}

TEST_CASE("reference: memory variables are exactly 0 outside their strips") {
  ir::Domain domain = test::domain({22, 24}, 10, FaceKind::free_surface);
  domain.faces = {
      {{FaceKind::free_surface, FaceKind::absorbing}, {FaceKind::absorbing, FaceKind::absorbing}}};
  domain.pad = {{{0, 6}, {5, 7}, {0, 0}}};
  const ir::Program program = test::program(equations::elastic(), 2, 4);
  reference::Executor<double> executor(program, domain, {{"dt", 1e-3}},
                                       {.dt = 1e-3, .velocity = 3000, .frequency = 20});
  executor.set_parameter("vp", test::constant(domain, 3000));
  executor.set_parameter("vs", test::constant(domain, 1700));
  executor.set_parameter("rho", test::constant(domain, 2000));
  executor.set_field("v.z", 0, test::constant(domain, 1));
  executor.set_field("v.x", 0,
                     test::sampled(domain, [](const ir::Extents& i) { return double(i[0] - i[1]); }));
  test::run(executor, 5);
  for (const ir::Field& field : program.fields) {
    if (field.strip_axis < 0) continue;
    CAPTURE(field.name);
    const auto axis = static_cast<std::size_t>(field.strip_axis);
    const bool half = field.stagger[axis] != 0;
    double outside = 0, inside = 0;
    const std::vector<double> values = executor.field(field.name);
    for (std::int64_t i = 0; i < domain.total(0); ++i) {
      for (std::int64_t j = 0; j < domain.total(1); ++j) {
        const std::int64_t along = axis == 0 ? i : j;
        bool in_strip = false;
        for (const int side : {0, 1}) {
          const ir::Range strip = domain.strip(field.strip_axis, side, half);
          in_strip = in_strip || (along >= strip.lo && along < strip.hi);
        }
        double& largest = in_strip ? inside : outside;
        largest = std::max(largest, std::fabs(values[test::flat_index(domain, i, j)]));
      }
    }
    CHECK(outside == 0);
    CHECK(inside > 0);
  }
}

TEST_CASE("A24: a fluid half-space over rock stays finite, its shear stress exactly 0") {
  const ir::Domain domain = test::with_layers(test::domain({30, 30}, 10, FaceKind::rigid), 8);
  reference::Executor<float> executor(test::program(equations::elastic(), 2, 8), domain, {{"dt", 1e-3}},
                                      {.dt = 1e-3, .velocity = 3000, .frequency = 20});
  const auto halves = [&](double fluid, double rock) {
    return test::sampled(domain, [&](const ir::Extents& i) { return i[0] < 22 ? fluid : rock; });
  };
  executor.set_parameter("vp", halves(1500, 3000));
  executor.set_parameter("vs", halves(0, 1700));
  executor.set_parameter("rho", halves(1000, 2300));
  std::vector<ir::PointSource> explosion;
  for (const char* component : {"s.zz", "s.xx"}) {
    explosion.push_back({component, {{{20, 23, 0}, 1.0}}, ricker(200)});
  }
  const ir::PointReceiver receiver{"v.z", {{{20, 30, 0}, 1.0}}};
  double peak = 0, late = 0, sample = 0;
  for (int n = 0; n < 1500; ++n) {
    executor.step(n, explosion, {&receiver, 1}, {&sample, 1});
    REQUIRE(std::isfinite(sample));
    double& largest = n < 600 ? peak : late;
    largest = std::max(largest, std::fabs(sample));
  }
  CHECK(peak > 0);
  CHECK(late < 0.1 * peak);
  const std::vector<double> shear = executor.field("s.zx");
  double in_fluid = 0, in_rock = 0;
  for (std::int64_t i = 0; i < domain.total(0) - 1; ++i) {
    for (std::int64_t j = 0; j < domain.total(1) - 1; ++j) {
      double& largest = i < 22 ? in_fluid : in_rock;  // the half cell at 21 1/2 touches fluid nodes
      largest = std::max(largest, std::fabs(shear[test::flat_index(domain, i, j)]));
    }
  }
  CHECK(in_fluid == 0);
  CHECK(in_rock > 0);
}
