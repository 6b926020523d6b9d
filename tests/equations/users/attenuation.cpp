// Users' damped and attenuating equations against their complex moduli: how fast plane waves fade and move.
// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>

#include "tests/equations/users/users.hpp"
#include "tests/runtime/jit/support.hpp"

namespace ondula::test {
namespace {

constexpr Complex i{0, 1};

/// Prints and checks: decay and phase speed within 1 %, of a wave that fades by a tenth or more.
void check_mode(const std::string& what, const Box& box, const Mode& mode, double share, std::int64_t steps) {
  double distance = 0;
  const Complex found = measured(box, mode, share, steps, &distance);
  const double decay = found.imag() / mode.omega.imag() - 1, speed = found.real() / mode.omega.real() - 1;
  MESSAGE(fmt::format("{}: {:.3g} Hz, Q {:.3g}: decay {:+.1e}, speed {:+.1e}, record {:.1e}", what,
                      mode.omega.real() / 6.283185307179586, mode.omega.real() / (2 * mode.omega.imag()),
                      decay, speed, distance));
  CHECK(mode.omega.imag() > 0);
  CHECK(std::fabs(decay) < 0.01);
  CHECK(std::fabs(speed) < 0.01);
  CHECK(distance < 0.02);
}

/// A wave of velocity v and stress s = `sign` times the field `stress`, with memory: rho v' = s_z,
/// s' = M_u v_z - sum (Delta_l/t_l ...): see docs/examples/equations/viscoacoustic.cpp.
Mode relaxing(double k, double rho, double modulus_r, const std::vector<double>& tau,
              const std::vector<double>& t) {
  const auto dispersion = [&](Complex w) { return w * w * rho - k * k * modulus_r * modulus(w, tau, t); };
  Mode mode;
  mode.omega = root(dispersion, k * std::sqrt(modulus_r / rho) * Complex(1.05, 0.02));
  return mode;
}

}  // namespace

TEST_CASE("users' equations: a standing wave of damped_wave fades as exp(-eta t/2), second order in time") {
  ONDULA_NEEDS_CLANG();
  const double vp = 2000, eta = 30;
  Box box{.equation = user_equation("damped_wave"), .models = {{"vp", vp}, {"eta", eta}}, .recorded = "u"};
  const double k = wavenumber(box);
  const Mode mode{Complex(std::sqrt(vp * vp * k * k - eta * eta / 4), eta / 2), {{"u", 1}}};
  check_mode("damped_wave", box, mode, 0.4, 400);
  double coarse = 0, fine = 0;
  measured(box, mode, 0.5, 201, &coarse);
  measured(box, mode, 0.25, 401, &fine);
  MESSAGE(fmt::format("error at half the step: 1/{:.3f}", coarse / fine));
  CHECK(coarse / fine == doctest::Approx(4).epsilon(0.05));
}

TEST_CASE("users' equations: viscoacoustic waves fade and move by the complex modulus, at two frequencies") {
  ONDULA_NEEDS_CLANG();
  const double vp = 2000, rho = 1800;
  const std::vector<double> tau = {0.1, 0.08}, t = {1 / 60.0, 1 / 300.0};
  for (const double spacing : {5.0, 1.5}) {
    Box box{
        .equation = user_equation("viscoacoustic"),
        .spacing = spacing,
        .models = {{"vp", vp}, {"rho", rho}, {"tau1", tau[0]}, {"tau2", tau[1]}, {"t1", t[0]}, {"t2", t[1]}},
        .half = {"v.z"},
        .recorded = "p"};
    const double k = wavenumber(box);
    Mode mode = relaxing(k, rho, rho * vp * vp, tau, t);
    const Complex w = mode.omega, v = -k / (w * rho);  // rho i w v = -i k p
    mode.amplitudes = {{"p", 1}, {"v.z", v}};
    for (std::size_t l = 0; l < 2; ++l) {
      mode.amplitudes["r" + std::to_string(l + 1)] =
          rho * vp * vp * tau[l] * i * k * v / (1.0 + i * w * t[l]);
    }
    check_mode("viscoacoustic", box, mode, 0.5, 400);
  }
}

TEST_CASE("users' equations: memory is taken in the middle of a step: second order in time") {
  ONDULA_NEEDS_CLANG();
  const double vp = 2000, rho = 1800;
  const std::vector<double> tau = {0.5, 0.0}, t = {1 / 60.0, 1.0};
  Box box{.equation = user_equation("viscoacoustic"),
          .models = {{"vp", vp}, {"rho", rho}, {"tau1", tau[0]}, {"tau2", 0}, {"t1", t[0]}, {"t2", 1}},
          .half = {"v.z"},
          .recorded = "p"};
  const double k = wavenumber(box);
  Mode mode = relaxing(k, rho, rho * vp * vp, tau, t);
  const Complex w = mode.omega, v = -k / (w * rho);
  mode.amplitudes = {
      {"p", 1}, {"v.z", v}, {"r1", rho * vp * vp * tau[0] * i * k * v / (1.0 + i * w * t[0])}, {"r2", 0}};
  double coarse = 0, fine = 0;
  measured(box, mode, 0.8, 101, &coarse);
  measured(box, mode, 0.4, 201, &fine);
  MESSAGE(fmt::format("error at half the step: 1/{:.3f}", coarse / fine));
  CHECK(coarse / fine == doctest::Approx(4).epsilon(0.05));
}

TEST_CASE("users' equations: viscoelastic P and S waves fade and move by their complex moduli") {
  ONDULA_NEEDS_CLANG();
  const double vp = 2500, vs = 1200, rho = 2000, tau_p = 0.08, tau_s = 0.15, t = 1 / 100.0;
  for (const bool shear : {false, true}) {
    for (const double spacing : {4.0, 1.5}) {
      Box box{.equation = user_equation("viscoelastic"),
              .dims = 2,
              .spacing = spacing,
              .models = {{"vp", vp}, {"vs", vs}, {"rho", rho}, {"tau_p", tau_p}, {"tau_s", tau_s}, {"t", t}},
              .half = {"v.z", "s.zx", "r.zx"},
              .recorded = shear ? "v.x" : "s.zz"};
      const double k = wavenumber(box), tau = shear ? tau_s : tau_p;
      const double m = rho * (shear ? vs * vs : vp * vp);
      Mode mode = relaxing(k, rho, m, {tau}, {t});
      const Complex w = mode.omega, v = 1, s = w * rho / k;  // rho i w v = i k s
      const auto memory = [&](double share) { return -share * i * k * v / (1.0 + i * w * t); };
      mode.amplitudes =
          shear ? std::map<std::string, Complex>{{"v.x", v}, {"s.zx", s}, {"r.zx", memory(m * tau)}}
                : std::map<std::string, Complex>{{"v.z", v}, {"s.zz", s}, {"r.zz", memory(m * tau)}};
      if (!shear) {
        const double mu = rho * vs * vs, lambda_u = m * (1 + tau_p) - 2 * mu * (1 + tau_s);
        const double lambda_r = m * tau_p - 2 * mu * tau_s;
        mode.amplitudes["r.xx"] = memory(lambda_r);
        mode.amplitudes["s.xx"] = (lambda_u * i * k * v + memory(lambda_r)) / (i * w);
      }
      check_mode(shear ? "viscoelastic S" : "viscoelastic P", box, mode, 0.5, 400);
    }
  }
}

}  // namespace ondula::test
