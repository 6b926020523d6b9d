// The oracle against sums written out by hand: nested derivatives, faces, averages, and what callers may get
// wrong. SPDX-License-Identifier: MIT
#include "compiler/reference/executor.hpp"

#include <doctest/doctest.h>

#include <random>

#include "compiler/error.hpp"
#include "equations/equations.hpp"
#include "tests/compiler/reference/setup.hpp"
#include "tests/support/compare.hpp"

namespace ondula::test {

EQUATION(decaying, "du/dt = -loss u") {
  auto loss = parameter("loss", "1/s");
  auto u = scalar("u", "Pa");
  evolve(dt(u) = -(loss * u));
}

EQUATION(whirl, "derivatives nested along two axes") {
  auto k = parameter("k", "m^2/s^2", positive);
  auto v = vector("v", "m");
  evolve(dtt(v) = k * grad(div(v)));
}

namespace {

std::vector<double> random_values(std::int64_t count, double low, double high, unsigned seed) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<double> draw(low, high);
  std::vector<double> values;
  for (std::int64_t i = 0; i < count; ++i) values.push_back(draw(generator));
  return values;
}

/// u at node `i`, possibly beyond a face, on 0 .. n-1.
double beyond(const std::vector<double>& u, std::int64_t i, FaceKind face) {
  const auto n = static_cast<std::int64_t>(u.size());
  const auto get = [&](std::int64_t k) { return u[static_cast<std::size_t>(k)]; };
  if (i >= 0 && i < n) return get(i);
  switch (face) {
    case FaceKind::periodic:
      return get((i + n) % n);
    case FaceKind::free_surface:
      return i < 0 ? -get(-i) : -get(2 * (n - 1) - i);
    case FaceKind::rigid:
      if (i == -1 || i == n) return 0;
      return i < 0 ? -get(-2 - i) : -get(2 * n - i);
    default:
      return 0;
  }
}

/// The density at node `i`: even about a free surface and about a rigid wall's plane one cell beyond the
/// nodes, wrapped if periodic, its edge value elsewhere.
double density(const std::vector<double>& rho, std::int64_t i, FaceKind face) {
  const auto n = static_cast<std::int64_t>(rho.size());
  if (face == FaceKind::periodic) i = (i + n) % n;
  if (face == FaceKind::free_surface) i = i < 0 ? -i : i >= n ? 2 * (n - 1) - i : i;
  if (face == FaceKind::rigid) i = i < -1 ? -2 - i : i > n ? 2 * n - i : i;
  return rho[static_cast<std::size_t>(std::clamp<std::int64_t>(i, 0, n - 1))];
}

/// rho vp^2 d/dx (1/rho du/dx) at node i, tap by tap.
double nested(const std::vector<double>& u, const std::vector<double>& vp, const std::vector<double>& rho,
              std::int64_t i, int order, double h, FaceKind face) {
  const auto weights = passes::staggered(order);
  const int radius = order / 2;
  const auto flux = [&](std::int64_t k) {  // at k + 1/2
    double slope = 0;
    for (int m = 1; m <= radius; ++m) {
      slope += weights[static_cast<std::size_t>(m - 1)].value() *
               (beyond(u, k + m, face) - beyond(u, k - m + 1, face));
    }
    return slope / h * 2 / (density(rho, k, face) + density(rho, k + 1, face));
  };
  double sum = 0;
  for (int m = 1; m <= radius; ++m) {
    sum += weights[static_cast<std::size_t>(m - 1)].value() * (flux(i + m - 1) - flux(i - m));
  }
  const auto at = static_cast<std::size_t>(i);
  return rho[at] * vp[at] * vp[at] * sum / h;
}

}  // namespace

TEST_CASE("A15: a nested derivative of x^3 is 6x to rounding from order 4 on") {
  for (const int order : {4, 8, 16}) {
    const ir::Domain domain = test::domain({60}, 1, FaceKind::rigid);
    reference::Executor<double> executor(program(equations::acoustic_density(), 1, order), domain,
                                         {{"dt", 1}}, {});
    executor.set_parameter("vp", constant(domain, 1));
    executor.set_parameter("rho", constant(domain, 1));
    const auto cube = [&](double factor) {
      return sampled(domain, [&](const ir::Extents& i) { return factor * std::pow(double(i[0]) - 30, 3); });
    };
    executor.set_field("u", 0, cube(1));
    executor.set_field("u", -1, cube(2));  // so that 2u - u` vanishes and only the derivative is left
    run(executor, 1);
    const std::vector<double> found = executor.field("u");
    CAPTURE(order);
    for (std::size_t i = 20; i < 40; ++i) CHECK(std::fabs(found[i] - 6 * (double(i) - 30)) < 1e-10);
  }
}

TEST_CASE("reference: nested derivatives in a random medium equal the composed stencil, at every face") {
  const double h = 7, dt = 1e-3;
  for (const FaceKind face :
       {FaceKind::rigid, FaceKind::free_surface, FaceKind::periodic, FaceKind::absorbing}) {
    for (const int order : {2, 4, 10}) {
      const ir::Domain domain = test::domain({26}, h, face);
      const auto vp = random_values(26, 1500, 3000, 1), rho = random_values(26, 1000, 3000, 2);
      auto u = random_values(26, -1, 1, 3);
      const bool surface = face == FaceKind::free_surface;
      if (surface) u.front() = u.back() = 0;
      reference::Executor<double> executor(program(equations::acoustic_density(), 1, order), domain,
                                           {{"dt", dt}}, {.dt = dt, .velocity = 3000});
      executor.set_parameter("vp", vp);
      executor.set_parameter("rho", rho);
      executor.set_field("u", 0, u);
      run(executor, 1);
      std::vector<double> expected;
      for (std::int64_t i = 0; i < 26; ++i) {
        const double next =
            2 * u[static_cast<std::size_t>(i)] + dt * dt * nested(u, vp, rho, i, order, h, face);
        expected.push_back(surface && (i == 0 || i == 25) ? 0 : next);
      }
      CAPTURE(order);
      CAPTURE(static_cast<int>(face));
      CHECK(max_abs_diff(executor.field("u"), expected) < 1e-12);
      CHECK(executor.field("u", -1) == u);
    }
  }
}

TEST_CASE("reference: div(grad(u)/rho) of a random density is self-adjoint between all mirroring faces") {
  double worst = 0;
  for (const FaceKind face : {FaceKind::rigid, FaceKind::free_surface, FaceKind::periodic}) {
    for (const int order : {2, 8, 16}) {
      const ir::Domain domain = test::domain({9, 12}, 1, face);
      const auto vp = random_values(108, 1, 2, 7), rho = random_values(108, 1, 3, 8);
      reference::Executor<double> executor(program(equations::acoustic_density(), 2, order), domain,
                                           {{"dt", 1}}, {});
      executor.set_parameter("vp", vp);
      executor.set_parameter("rho", rho);
      const auto random_field = [&](unsigned seed) {
        auto u = random_values(108, -1, 1, seed);
        for (std::int64_t k = 0; k < 108 && face == FaceKind::free_surface; ++k) {
          const std::int64_t i = k / 12, j = k % 12;
          if (i == 0 || i == 8 || j == 0 || j == 11) u[static_cast<std::size_t>(k)] = 0;
        }
        return u;
      };
      const auto applied = [&](const std::vector<double>& u) {
        std::vector<double> twice = u;
        for (double& value : twice) value *= 2;
        executor.set_field("u", 0, u);
        executor.set_field("u", -1, twice);
        run(executor, 1);
        return executor.field("u");
      };
      const auto u = random_field(9), w = random_field(10);
      const auto lu = applied(u), lw = applied(w);
      double left = 0, right = 0, size = 0;
      for (std::size_t i = 0; i < u.size(); ++i) {
        const double mass = 1 / (rho[i] * vp[i] * vp[i]);
        left += mass * lu[i] * w[i];
        right += mass * u[i] * lw[i];
        size += mass * std::fabs(lu[i] * w[i]);
      }
      worst = std::max(worst, std::fabs(left - right) / size);
    }
  }
  CHECK(worst < 1e-13);
  MESSAGE("largest |<Lu, w> - <u, Lw>|: ", worst);
}

TEST_CASE("reference: off its node a shear modulus is the harmonic mean, 0 beside a fluid") {
  const ir::Domain domain = test::domain({9, 8}, 1, FaceKind::periodic);
  auto vs = random_values(72, 500, 1500, 4);
  const auto rho = random_values(72, 1000, 2000, 5), v = random_values(72, -1, 1, 6);
  vs[flat_index(domain, 4, 4)] = 0;
  reference::Executor<double> executor(program(equations::elastic(), 2, 2), domain, {{"dt", 1}}, {});
  executor.set_parameter("vp", constant(domain, 3000));
  executor.set_parameter("vs", vs);
  executor.set_parameter("rho", rho);
  executor.set_field("v.z", 0, v);
  run(executor, 1);
  const std::vector<double> shear = executor.field("s.zx");
  for (std::int64_t i = 0; i < 9; ++i) {
    for (std::int64_t j = 0; j < 8; ++j) {
      double reciprocals = 0;
      for (const auto& [a, b] : {std::pair{0, 0}, {0, 1}, {1, 0}, {1, 1}}) {
        const std::size_t k = flat_index(domain, (i + a) % 9, (j + b) % 8);
        reciprocals += 1 / (rho[k] * vs[k] * vs[k]);
      }
      // After one step from zero stress the velocity is as it was, and s.zx is mu times its shear.
      const double slope = v[flat_index(domain, i, (j + 1) % 8)] - v[flat_index(domain, i, j)];
      const double expected = 4 / reciprocals * slope;
      CHECK(std::fabs(shear[flat_index(domain, i, j)] - expected) <= 1e-12 * std::fabs(expected));
    }
  }
  CHECK(shear[flat_index(domain, 4, 4)] == 0);
  CHECK(shear[flat_index(domain, 3, 3)] == 0);
  CHECK(shear[flat_index(domain, 2, 4)] != 0);
}

TEST_CASE("reference: a pointwise loss decays as Crank-Nicolson says") {
  const ir::Domain domain = test::domain({5}, 1, FaceKind::rigid);
  const double dt = 0.01;
  reference::Executor<double> executor(program(decaying(), 1, 2), domain, {{"dt", dt}}, {});
  executor.set_parameter("loss", std::vector<double>{0, 1, 10, 100, 1000});
  executor.set_field("u", 0, constant(domain, 1));
  run(executor, 20);
  const std::vector<double> found = executor.field("u");
  for (std::size_t i = 0; i < 5; ++i) {
    const double half = dt / 2 * (i == 0 ? 0 : std::pow(10, double(i) - 1));
    CHECK(found[i] == doctest::Approx(std::pow((1 - half) / (1 + half), 20)).epsilon(1e-12));
  }
}

TEST_CASE("reference: entries where a field does not live stay 0") {
  const ir::Domain domain = test::domain({8, 9}, 10, FaceKind::free_surface);
  const ir::Program elastic = program(equations::elastic(), 2, 4);
  reference::Executor<double> executor(elastic, domain, {{"dt", 1e-3}}, {});
  for (const char* name : {"vp", "vs", "rho"}) executor.set_parameter(name, constant(domain, 1000));
  for (const ir::Field& field : elastic.fields) {
    if (field.strip_axis >= 0) continue;
    executor.set_field(field.name, 0, constant(domain, 1));
  }
  for (int n = 0; n < 3; ++n) {
    CHECK(executor.field("s.zz")[flat_index(domain, 0, 4)] == 0);
    CHECK(executor.field("s.zz")[flat_index(domain, 7, 4)] == 0);
    CHECK(executor.field("s.zz")[flat_index(domain, 3, 0)] != 0);
    CHECK(executor.field("v.z")[flat_index(domain, 7, 4)] == 0);
    CHECK(executor.field("s.zx")[flat_index(domain, 3, 8)] == 0);
    run(executor, 1);
  }
  executor.clear();
  CHECK(max_abs(executor.field("v.z")) == 0);
}

TEST_CASE("F5: a time level that is not kept cannot be read, set or executed") {
  const ir::Domain domain = test::domain({8}, 1, FaceKind::rigid);
  ir::Program changed = program(equations::acoustic(), 1, 2);
  reference::Executor<double> executor(changed, domain, {{"dt", 1}}, {});
  CHECK_THROWS_WITH_AS(executor.field("u", -2), "equation acoustic: u keeps no time level -2", InternalError);
  CHECK_THROWS_AS(executor.field("u_psi_z", -1), InternalError);
  CHECK_THROWS_AS(executor.set_field("u", 1, constant(domain, 0)), InternalError);
  changed.operations.push_back(ir::Update{"u", 1, changed.pool->field("u", -2), true, {{}}});
  CHECK_THROWS_AS(reference::Executor<double>(changed, domain, {{"dt", 1}}, {}), InternalError);
}

TEST_CASE("reference: derivatives nested along two axes need layers all around, or none") {
  const ir::Program program = test::program(whirl(), 2, 4);
  ir::Domain domain = test::domain({12, 12}, 10, FaceKind::rigid);
  CHECK_NOTHROW(reference::Executor<double>(program, domain, {{"dt", 1e-3}}, {}));
  domain.faces[0][0] = FaceKind::absorbing;
  domain.pad[0][0] = 4;
  CHECK_THROWS_WITH_AS(reference::Executor<double>(program, domain, {{"dt", 1e-3}}, {}),
                       doctest::Contains("with a layer along z they need layers on both faces of x"),
                       UserError);
  CHECK_NOTHROW(reference::Executor<double>(program, test::with_layers(domain, 4), {{"dt", 1e-3}}, {}));
}

TEST_CASE("reference: missing or misshapen input is named") {
  const ir::Domain domain = test::domain({8}, 1, FaceKind::rigid);
  reference::Executor<float> executor(program(equations::acoustic(), 1, 2), domain, {}, {});
  CHECK_THROWS_AS(executor.set_parameter("rho", constant(domain, 1)), InternalError);
  CHECK_THROWS_AS(executor.set_parameter("vp", std::vector<double>(7)), InternalError);
  CHECK_THROWS_AS(executor.set_field("u", 0, std::vector<double>(9)), InternalError);
  CHECK_THROWS_AS(executor.set_field("p", 0, constant(domain, 1)), InternalError);
  CHECK_THROWS_WITH_AS(run(executor, 1), "equation acoustic: no value for the symbol dt", InternalError);
  const ir::Domain flat = test::domain({8, 8}, 1, FaceKind::rigid);
  CHECK_THROWS_AS(reference::Executor<float>(program(equations::acoustic(), 1, 2), flat, {}, {}),
                  InternalError);
  const ir::Domain one = test::domain({1}, 1, FaceKind::free_surface);
  CHECK_THROWS_AS(reference::Executor<float>(program(equations::acoustic(), 1, 2), one, {}, {}), UserError);
}

}  // namespace ondula::test
