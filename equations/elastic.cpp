// Isotropic elastic waves in velocity and stress.
// SPDX-License-Identifier: MIT
#include "equations/equations.hpp"

#include "compiler/dsl/dsl.hpp"

namespace ondula::equations {

// Newton's law and the time derivative of Hooke's law (Virieux 1986, eq. 1; Levander 1988 for the stencils):
//
//     rho v_t = div(s) + f,
//     s_t = lambda trace(grad v) I + 2 mu sym(grad v) - M_t,
//
// with mu = rho vs^2, lambda = rho vp^2 - 2 mu. The moment-rate density M_t enters with a minus sign: a
// stress glut.
EQUATION(elastic, "Isotropic velocity-stress (Virieux 1986)") {
  auto vp = parameter("vp", "m/s", positive);
  auto vs = parameter("vs", "m/s", nonnegative);
  auto rho = parameter("rho", "kg/m^3", positive);
  auto mu = rho * sq(vs);
  auto lambda = rho * sq(vp) - 2 * mu;
  auto v = vector("v", "m/s");
  auto s = symmetric_tensor("s", "Pa");
  evolve(dt(v) = (div(s) + force(v)) / rho);
  evolve(dt(s) = lambda * trace(grad(v)) * identity() + 2 * mu * sym(grad(v)) - moment_rate(s));
}

}  // namespace ondula::equations
