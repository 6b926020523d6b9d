// Acoustic waves in a medium that attenuates: standard linear solids in parallel.
// SPDX-License-Identifier: MIT
#include <string>

#include <ondula/dsl.hpp>

// Pressure follows the history of the velocity's divergence (Carcione, Kosloff & Kosloff 1988; Robertsson,
// Blanch & Symes 1994),
//
//     rho v_t = -grad(p) + f,     p = -psi * div(v),     psi(t) = kappa (1 + sum_l tau_l exp(-t/t_l)), t > 0,
//
// with kappa = rho vp^2 the modulus of slow changes and * a convolution in time. Differentiated,
//
//     p_t = -kappa (1 + sum_l tau_l) div(v) + sum_l r_l + s,
//     r_l,t = (kappa tau_l div(v) - r_l)/t_l,
//
// where the memory variables r_l replace the convolution. The modulus at the angular frequency omega is
//
//     kappa (1 + sum_l tau_l i omega t_l/(1 + i omega t_l)):
//
// one mechanism with a small tau has 1/Q = tau omega t/(1 + (omega t)^2), largest at omega = 1/t.
namespace {
constexpr int mechanisms = 2;
}

EQUATION(viscoacoustic, "Variable density with two standard linear solids: Q about constant over a band") {
  auto vp = parameter("vp", "m/s", positive);
  auto rho = parameter("rho", "kg/m^3", positive);
  auto kappa = rho * sq(vp);
  auto v = vector("v", "m/s");
  auto p = scalar("p", "Pa");
  auto unrelaxed = kappa;
  auto rest = source(p);
  evolve(dt(v) = (force(v) - grad(p)) / rho);
  for (int l = 1; l <= mechanisms; ++l) {
    auto tau = parameter("tau" + std::to_string(l), "1", nonnegative);
    auto t = parameter("t" + std::to_string(l), "s", positive);
    auto r = scalar("r" + std::to_string(l), "Pa/s");
    evolve(dt(r) = (kappa * tau * div(v) - r) / t);
    unrelaxed = unrelaxed + kappa * tau;
    rest = rest + r;
  }
  evolve(dt(p) = rest - unrelaxed * div(v));
}
