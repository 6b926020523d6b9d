// Elastic waves in a medium that attenuates both kinds of waves: one standard linear solid.
// SPDX-License-Identifier: MIT
#include <ondula/dsl.hpp>

// Robertsson, Blanch & Symes (1994), eqs. 2 to 6, with one mechanism of relaxation time t. With the moduli of
// slow changes pi = rho vp^2 and mu = rho vs^2, and tau_p, tau_s the shares by which those of fast changes
// are larger,
//
//     rho v_t = div(s) + f,
//     s_t = (pi (1 + tau_p) - 2 mu (1 + tau_s)) trace(grad v) I + 2 mu (1 + tau_s) sym(grad v) + r - M_t,
//     t r_t = -r - (pi tau_p - 2 mu tau_s) trace(grad v) I - 2 mu tau_s sym(grad v).
//
// P waves have the modulus pi (1 + tau_p i omega t/(1 + i omega t)), S waves the same of mu and tau_s. For
// small shares 1/Q = tau omega t/(1 + (omega t)^2): tau_p = 2/Qp and tau_s = 2/Qs at the angular frequency
// 1/t. A medium must lose energy when it is squeezed evenly, too: pi tau_p at least 4/3 mu tau_s (in 2-D mu
// tau_s).
EQUATION(viscoelastic, "Isotropic velocity-stress with one standard linear solid (Robertsson et al. 1994)") {
  auto vp = parameter("vp", "m/s", positive);
  auto vs = parameter("vs", "m/s", nonnegative);
  auto rho = parameter("rho", "kg/m^3", positive);
  auto tau_p = parameter("tau_p", "1", nonnegative);
  auto tau_s = parameter("tau_s", "1", nonnegative);
  auto t = parameter("t", "s", positive);
  auto pi = rho * sq(vp);
  auto mu = rho * sq(vs);
  auto fast_mu = mu * (1 + tau_s);
  auto slow_mu = mu * tau_s;
  auto v = vector("v", "m/s");
  auto s = symmetric_tensor("s", "Pa");
  auto r = symmetric_tensor("r", "Pa/s");
  evolve(dt(v) = (div(s) + force(v)) / rho);
  evolve(dt(s) = (pi * (1 + tau_p) - 2 * fast_mu) * trace(grad(v)) * identity() + 2 * fast_mu * sym(grad(v)) +
                 r - moment_rate(s));
  evolve(dt(r) = -r / t - (pi * tau_p - 2 * slow_mu) / t * trace(grad(v)) * identity() -
                 2 * (slow_mu / t) * sym(grad(v)));
}
