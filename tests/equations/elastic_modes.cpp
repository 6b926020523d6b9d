// Elastic standing P and S modes between antisymmetric faces: exact on the grid with the scheme's own
// frequency, and the measure of its order with the continuum's (verification.md, Exact on the grid).
// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "compiler/passes/stencil.hpp"
#include "equations/equations.hpp"
#include "tests/equations/energy.hpp"
#include "tests/runtime/jit/support.hpp"
#include "tests/support/compare.hpp"

namespace ondula::test {
namespace {

using std::numbers::pi;

constexpr double vp = 3000, vs = 1700;

enum class Wave { p, s };

/// cos along the component's own axis (half cells, even), sin along the others (nodes, odd), `waves[a]` half
/// waves along axis a; P displaces along `direction`, S across it.
struct Mode {
  EngineCase c;
  Wave wave = Wave::p;
  std::vector<int> waves;

  double k(std::size_t a) const {
    return pi * waves[a] / (static_cast<double>(c.domain.shape[a] - 1) * c.domain.spacing[a]);
  }
  /// k as the stencil sees it: (2/h) sum c_m sin((2m - 1) kh/2), the weights from their closed form.
  double discrete_k(std::size_t a) const {
    const double h = c.domain.spacing[a];
    double sum = 0;
    for (int m = 1; m <= c.order / 2; ++m)
      sum += weight(c.order / 2, m) * std::sin((2 * m - 1) * k(a) * h / 2);
    return 2 * sum / h;
  }
  static double weight(int radius, int m) {
    double product = 1.0 / (2 * m - 1);
    for (int j = 1; j <= radius; ++j) {
      const double a = (2 * j - 1) * (2 * j - 1), b = (2 * m - 1) * (2 * m - 1);
      if (j != m) product *= a / (a - b);
    }
    return product;
  }
  double speed() const { return wave == Wave::p ? vp : vs; }

  Fields velocities(const std::vector<double>& amplitude, double factor) const {
    Fields fields;
    const auto axes = default_axes(c.domain.dims);
    for (std::size_t a = 0; a < waves.size(); ++a) {
      std::vector<double>& values = fields["v." + axes[a]];
      ir::Extents i{};
      for (i[0] = 0; i[0] < c.domain.total(0); ++i[0]) {
        for (i[1] = 0; i[1] < c.domain.total(1); ++i[1]) {
          for (i[2] = 0; i[2] < c.domain.total(2); ++i[2])
            values.push_back(value(a, i, amplitude[a] * factor));
        }
      }
    }
    return fields;
  }

  double value(std::size_t a, const ir::Extents& i, double product) const {
    if (i[a] == c.domain.shape[a] - 1) return 0;
    for (std::size_t b = 0; b < waves.size(); ++b) {
      const double theta = k(b) * c.domain.spacing[b], along = static_cast<double>(i[b]);
      product *= a == b ? std::cos(theta * (along + 0.5)) : std::sin(theta * along);
    }
    return product;
  }

  /// Along the wavenumber (P), or across it in the plane of the first and the last axis (S).
  std::vector<double> amplitude(const std::vector<double>& wavenumber) const {
    std::vector<double> result = wavenumber;
    if (wave == Wave::s) {
      std::fill(result.begin(), result.end(), 0.0);
      result.front() = wavenumber.back();
      result.back() = -wavenumber.front();
    }
    const double size = std::sqrt(squares(result));
    for (double& x : result) x /= size;
    return result;
  }

  static double squares(const std::vector<double>& x) {
    double sum = 0;
    for (const double v : x) sum += v * v;
    return sum;
  }

  /// The largest error of the velocities, over their amplitude, after `steps` steps, from zero stress at t =
  /// 0, with v at half steps along `wavenumber` and the frequency sin(omega dt/2) = speed |wavenumber| dt/2.
  double error(Running running, const std::vector<double>& wavenumber, std::int64_t steps) const {
    const double phase = 2 * std::asin(speed() * std::sqrt(squares(wavenumber)) * c.dt / 2);
    const auto a = amplitude(wavenumber);
    running.set_fields(velocities(a, std::cos(phase / 2)));
    running.steps(steps);
    const Fields exact = velocities(a, std::cos(phase * (static_cast<double>(steps) - 0.5)));
    double worst = 0, size = 0;
    for (const auto& [name, values] : velocities(a, 1)) size = std::max(size, max_abs(values));
    for (const auto& [name, values] : exact) {
      worst = detail::worse(worst, max_abs_diff(running.engine->field(name, 0), values));
    }
    return worst / size;
  }

  std::vector<double> all(double (Mode::*component)(std::size_t) const) const {
    std::vector<double> result;
    for (std::size_t axis = 0; axis < waves.size(); ++axis) result.push_back((this->*component)(axis));
    return result;
  }
};

Mode mode(const std::vector<std::int64_t>& shape, double spacing, const std::vector<int>& waves, int order,
          Wave wave) {
  Mode m;
  m.c.domain = layered(shape, 0);
  for (std::size_t a = 0; a < shape.size(); ++a) {
    m.c.domain.faces[a] = {FaceKind::antisymmetric, FaceKind::antisymmetric};
    m.c.domain.spacing[a] = spacing;
  }
  m.c.order = order;
  m.c.dt = 0.4 * spacing / (vp * std::sqrt(static_cast<double>(shape.size())));
  m.c.models = {{"vp", {vp}}, {"vs", {vs}}, {"rho", {2200}}};
  m.wave = wave;
  m.waves = waves;
  return m;
}

struct Setting {
  std::vector<std::int64_t> shape;
  std::vector<int> waves;
};

const std::vector<Setting>& settings() {
  static const std::vector<Setting> all = {{{40}, {5}}, {{19, 23}, {2, 3}}, {{9, 11, 12}, {2, 3, 4}}};
  return all;
}

template <class Engine>
void check_exact(const Engine& engine, std::size_t dims, int order, std::int64_t steps, double& worst) {
  const Setting& setting = settings()[dims - 1];
  for (const Wave wave : {Wave::p, Wave::s}) {
    if (wave == Wave::s && dims == 1) continue;
    CAPTURE(dims);
    CAPTURE(order);
    CAPTURE(static_cast<int>(wave));
    const Mode m = mode(setting.shape, 10, setting.waves, order, wave);
    const double error = m.error(engine(m.c), m.all(&Mode::discrete_k), steps);
    CHECK(error < 1e-12);
    worst = detail::worse(worst, error);
  }
}

/// log2 of the errors on a grid and on one of half the spacing, with one step for both, at a time where the
/// velocities cross 0.
double slope(std::size_t dims, int order, Wave wave, int waves, int cells) {
  const auto on = [&](int refined) {
    return mode(std::vector<std::int64_t>(dims, refined * cells + 1), 10.0 / refined,
                std::vector<int>(dims, waves), order, wave);
  };
  Mode coarse = on(1), fine = on(2);
  const double omega = coarse.speed() * std::sqrt(Mode::squares(coarse.all(&Mode::k)));
  const double time = 3.5 * pi / omega;
  const auto steps = static_cast<std::int64_t>(std::ceil(time / fine.c.dt));
  // v stands half a step before: its phase is a multiple of pi plus pi/2 at this step's half.
  double dt = time / (static_cast<double>(steps) - 0.5);
  for (int i = 0; i < 20; ++i) {
    const double phase = 2 * std::asin(omega * dt / 2);
    dt *= 3.5 * pi / (phase * (static_cast<double>(steps) - 0.5));
  }
  coarse.c.dt = fine.c.dt = dt;
  const auto error = [&](const Mode& m) {
    return m.error(on_reference(equations::elastic(), m.c), m.all(&Mode::k), steps);
  };
  return std::log2(error(coarse) / error(fine));
}

/// What the symbol predicts: the relative error of k on the coarse grid over that on the fine one.
double predicted(int order, int waves, int cells) {
  const auto defect = [&](int refined) {
    const Mode m = mode({refined * cells + 1}, 10.0 / refined, {waves}, order, Wave::p);
    return 1 - m.discrete_k(0) / m.k(0);
  };
  return std::log2(defect(1) / defect(2));
}

}  // namespace

TEST_CASE("elastic modes: P and S are exact on the reference, 1-D to 3-D, orders 2 to 16") {
  double worst = 0;
  const auto engine = [](const EngineCase& c) { return on_reference(equations::elastic(), c); };
  for (std::size_t dims = 1; dims <= 3; ++dims) {
    for (int order = 2; order <= 16; order += 2)
      check_exact(engine, dims, order, dims == 3 ? 150 : 500, worst);
  }
  MESSAGE("largest error ", worst);
}

TEST_CASE("elastic modes: P and S are exact in compiled kernels over 500 steps, 1-D to 3-D") {
  ONDULA_NEEDS_CLANG();
  double worst = 0;
  const auto engine = [](const EngineCase& c) { return on_host(equations::elastic(), c); };
  for (const int order : {2, 8, 16}) check_exact(engine, 1, order, 500, worst);
  for (int order = 2; order <= 16; order += 2) check_exact(engine, 2, order, 500, worst);
  check_exact(engine, 3, 4, 500, worst);
  MESSAGE("largest error ", worst);
}

TEST_CASE("elastic modes: orders 2 to 10 converge as predicted and nominal, P and S, 1-D to 3-D") {
  for (std::size_t dims = 1; dims <= 3; ++dims) {
    for (const Wave wave : {Wave::p, Wave::s}) {
      if (wave == Wave::s && dims == 1) continue;
      std::string found;
      for (int order = 2; order <= 10; order += 2) {
        CAPTURE(dims);
        CAPTURE(order);
        const double measured = slope(dims, order, wave, 1, 7);
        CHECK(std::fabs(measured - predicted(order, 1, 7)) < 0.05);
        CHECK(std::fabs(measured - order) < 0.2);
        found += fmt::format(" {:.3f}", measured);
      }
      MESSAGE(dims << (wave == Wave::p ? "-D, P:" : "-D, S:") << found);
    }
  }
}

}  // namespace ondula::test
