// Plane waves of the anisotropic equations: on the grid exactly those of Christoffel's matrix at the
// wavenumber as the stencils see it, and the continuum's to the order of the stencils.
// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "tests/equations/users/users.hpp"
#include "tests/runtime/jit/support.hpp"
#include "tests/support/compare.hpp"
#include "tests/verification/setup.hpp"

namespace ondula::test {
namespace {

/// The moduli of an orthorhombic medium, Pa.
struct Moduli {
  double c11 = 0, c22 = 0, c33 = 0, c44 = 0, c55 = 0, c66 = 0, c12 = 0, c13 = 0, c23 = 0;
};

using Vector = std::array<double, 3>;  ///< x, y, z
using Matrix = std::array<Vector, 3>;

/// Christoffel's matrix: c_ijkl k_j k_k over the density.
Matrix christoffel(const Moduli& c, double rho, const Vector& k) {
  const auto [x, y, z] = k;
  const double xy = (c.c12 + c.c66) * x * y, xz = (c.c13 + c.c55) * x * z, yz = (c.c23 + c.c44) * y * z;
  Matrix m = {{{c.c11 * x * x + c.c66 * y * y + c.c55 * z * z, xy, xz},
               {xy, c.c66 * x * x + c.c22 * y * y + c.c44 * z * z, yz},
               {xz, yz, c.c55 * x * x + c.c44 * y * y + c.c33 * z * z}}};
  for (Vector& row : m) {
    for (double& value : row) value /= rho;
  }
  return m;
}

struct Eigen {
  double square = 0;  ///< omega^2
  Vector direction{};
};

/// Eigenvalues and -vectors of a symmetric matrix, largest first: Jacobi's rotations.
std::array<Eigen, 3> eigen(Matrix m) {
  Matrix v = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
  for (int sweep = 0; sweep < 50; ++sweep) {
    for (std::size_t p = 0; p < 3; ++p) {
      for (std::size_t q = p + 1; q < 3; ++q) {
        if (m[p][q] == 0) continue;
        const double angle = 0.5 * std::atan2(2 * m[p][q], m[q][q] - m[p][p]);
        const double c = std::cos(angle), s = std::sin(angle);
        for (std::size_t k = 0; k < 3; ++k) {
          const double a = m[k][p], b = m[k][q], e = v[k][p], f = v[k][q];
          m[k][p] = c * a - s * b, m[k][q] = s * a + c * b;
          v[k][p] = c * e - s * f, v[k][q] = s * e + c * f;
        }
        for (std::size_t k = 0; k < 3; ++k) {
          const double a = m[p][k], b = m[q][k];
          m[p][k] = c * a - s * b, m[q][k] = s * a + c * b;
        }
      }
    }
  }
  std::array<Eigen, 3> result;
  for (std::size_t i = 0; i < 3; ++i) result[i] = {m[i][i], {v[0][i], v[1][i], v[2][i]}};
  std::sort(result.begin(), result.end(), [](const Eigen& a, const Eigen& b) { return a.square > b.square; });
  return result;
}

using std::numbers::pi;

constexpr double spacing = 10, rho = 2200;
constexpr int order = 8;
const std::array<std::string, 3> names = {"x", "y", "z"};

/// A medium, and what its equation calls it.
struct Medium {
  std::string equation;
  std::map<std::string, double> models;
  Moduli moduli;
  std::size_t waves = 3;  ///< that move
};

/// A standing wave cos(k.x) cos(omega t) in a periodic box, `turns` wavelengths along x, y and z.
struct Standing {
  const Medium& medium;
  std::array<int, 3> turns;
  std::vector<std::int64_t> shape;  ///< along the axes z, (y,) x

  bool has(std::size_t a) const { return a != 1 || shape.size() == 3; }
  std::int64_t nodes(std::size_t a) const { return a == 2 ? shape[0] : a == 1 ? shape[1] : shape.back(); }
  Vector k() const {
    Vector result{};
    for (std::size_t a = 0; a < 3; ++a)
      result[a] = has(a) ? 2 * pi * turns[a] / (static_cast<double>(nodes(a)) * spacing) : 0;
    return result;
  }
  /// (2/h) sum c_m sin((2m - 1) kh/2), the weights of the eighth order.
  Vector seen() const {
    static constexpr std::array<double, 4> weights = {1225.0 / 1024, -245.0 / 3072, 49.0 / 5120, -5.0 / 7168};
    Vector result{};
    for (std::size_t a = 0; a < 3; ++a) {
      for (std::size_t m = 0; m < 4; ++m)
        result[a] +=
            2 / spacing * weights[m] * std::sin((2.0 * static_cast<double>(m) + 1) * k()[a] * spacing / 2);
    }
    return result;
  }
  /// The values of a component that lives half a cell along axis `half`.
  std::vector<double> values(const Grid& grid, std::size_t half, double amplitude) const {
    const Vector wave = k();
    return on_nodes(grid, [&](const std::vector<std::int64_t>& node) {
      double phase = 0;
      for (std::size_t a = 0; a < 3; ++a) {
        if (!has(a)) continue;
        const std::int64_t i = a == 2 ? node[0] : a == 1 ? node[1] : node.back();
        phase += wave[a] * spacing * (static_cast<double>(i) + (a == half ? 0.5 : 0.0));
      }
      return amplitude * std::cos(phase);
    });
  }
};

/// The largest error of the velocities after `steps` steps of a wave that polarises along `own.direction` and
/// turns by `phase` a step.
double error(const Standing& wave, const Vector& direction, double phase, double dt) {
  constexpr std::int64_t steps = 60;
  const Grid box = grid(wave.shape, spacing, {FaceKind::periodic, 0});
  Propagator propagator(user_equation(wave.medium.equation), box, options(dt, steps, order));
  for (const auto& [name, value] : wave.medium.models) propagator.set_model(name, value);
  for (std::size_t a = 0; a < 3; ++a) {
    if (wave.has(a))
      propagator.set_initial("v." + names[a], wave.values(box, a, direction[a] * std::cos(phase / 2)));
  }
  const Shot nothing;
  propagator.forward({&nothing, 1});
  double worst = 0;
  const double later = std::cos(phase * (static_cast<double>(steps) - 0.5));
  for (std::size_t a = 0; a < 3; ++a) {
    if (!wave.has(a)) continue;
    const auto found = propagator.state().at("v." + names[a]);
    worst = detail::worse(worst, max_abs_diff(found, wave.values(box, a, direction[a] * later)));
  }
  return worst;
}

void check_medium(const Medium& medium, const std::vector<std::int64_t>& shape,
                  const std::array<int, 3>& turns) {
  const Standing wave{medium, turns, shape};
  const auto grids = eigen(christoffel(medium.moduli, rho, wave.seen()));
  const auto exact = eigen(christoffel(medium.moduli, rho, wave.k()));
  const double dt = 0.0008;
  for (std::size_t w = 0; w < medium.waves; ++w) {
    CAPTURE(medium.equation);
    CAPTURE(w);
    if (shape.size() == 2 && std::fabs(grids[w].direction[1]) > 0.5) continue;  // across the plane
    const double phase = 2 * std::asin(std::sqrt(grids[w].square) * dt / 2);
    CHECK(error(wave, grids[w].direction, phase, dt) < 1e-10);
    // The phase speed itself, with the dispersion of eight nodes a wavelength and more.
    CHECK(phase / dt / std::sqrt(exact[w].square) == doctest::Approx(1).epsilon(0.01));
  }
}

constexpr double vp = 3000, vs = 1500, epsilon = 0.2, delta = 0.08, gamma = 0.15;

Medium thomsen(bool three) {
  Moduli c;
  c.c33 = rho * vp * vp;
  c.c44 = c.c55 = rho * vs * vs;
  c.c11 = c.c22 = c.c33 * (1 + 2 * epsilon);
  c.c66 = c.c55 * (1 + 2 * gamma);
  c.c12 = c.c11 - 2 * c.c66;
  c.c13 = c.c23 = std::sqrt(std::pow(c.c33 - c.c55, 2) + 2 * delta * c.c33 * (c.c33 - c.c55)) - c.c55;
  Medium medium{
      "elastic_vti", {{"vp", vp}, {"vs", vs}, {"rho", rho}, {"epsilon", epsilon}, {"delta", delta}}, c, 3};
  if (three) medium.models["gamma"] = gamma;
  return medium;
}

Medium acoustic_vti() {
  Moduli c;
  c.c33 = rho * vp * vp;
  c.c11 = c.c22 = c.c12 = c.c33 * (1 + 2 * epsilon);
  c.c13 = c.c23 = c.c33 * std::sqrt(1 + 2 * delta);
  return {"vti_acoustic", {{"vp", vp}, {"rho", rho}, {"epsilon", epsilon}, {"delta", delta}}, c, 1};
}

/// Shale cut by vertical cracks (Schoenberg and Helbig 1997), per density in km^2/s^2.
Medium cracked(bool three) {
  const double unit = 1e6 * rho;
  const Moduli c = {9 * unit,     9.84 * unit, 5.9375 * unit, 2 * unit,  1.6 * unit,
                    2.182 * unit, 3.6 * unit,  2.25 * unit,   2.4 * unit};
  Medium medium{"elastic_orthorhombic",
                {{"rho", rho}, {"c11", c.c11}, {"c33", c.c33}, {"c55", c.c55}, {"c13", c.c13}},
                c,
                3};
  if (three) {
    for (const auto& [name, value] :
         {std::pair{"c22", c.c22}, std::pair{"c44", c.c44}, std::pair{"c66", c.c66}, std::pair{"c12", c.c12},
          std::pair{"c23", c.c23}})
      medium.models[name] = value;
  }
  return medium;
}

}  // namespace

TEST_CASE("users' equations: anisotropic plane waves in two dimensions have Christoffel's speeds") {
  ONDULA_NEEDS_CLANG();
  for (const Medium& medium : {thomsen(false), acoustic_vti(), cracked(false)}) {
    check_medium(medium, {24, 30}, {2, 0, 1});
    check_medium(medium, {16, 16}, {0, 0, 2});  // down
    check_medium(medium, {16, 16}, {2, 0, 0});  // sideways
  }
}

TEST_CASE("users' equations: anisotropic plane waves in three dimensions have Christoffel's speeds") {
  ONDULA_NEEDS_CLANG();
  for (const Medium& medium : {thomsen(true), acoustic_vti(), cracked(true)})
    check_medium(medium, {16, 12, 18}, {1, 1, 1});
}

TEST_CASE("users' equations: the acoustic VTI waves run with vp down, vp sqrt(1 + 2 epsilon) sideways") {
  const Medium medium = acoustic_vti();
  CHECK(std::sqrt(eigen(christoffel(medium.moduli, rho, {0, 0, 1}))[0].square) == doctest::Approx(vp));
  CHECK(std::sqrt(eigen(christoffel(medium.moduli, rho, {1, 0, 0}))[0].square) ==
        doctest::Approx(vp * std::sqrt(1 + 2 * epsilon)));
}

}  // namespace ondula::test
