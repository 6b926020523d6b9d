// Acoustic waves: constant and variable density.
// SPDX-License-Identifier: MIT
#include "equations/equations.hpp"

#include "compiler/dsl/dsl.hpp"

namespace ondula::equations {

// Euler's equation rho v_t = -grad p and Hooke's law p_t = -kappa div v, kappa = rho vp^2, give for constant
// density
//
//     p_tt = vp^2 (laplacian(p) + s),
//
// with s in Pa/m^2, so that (1/vp^2) p_tt - laplacian(p) = s: its Green's function in 3-D is delta(t -
// r/vp)/(4 pi r).
EQUATION(acoustic, "Constant density: (1/vp^2) u_tt = laplacian(u) + s") {
  auto vp = parameter("vp", "m/s", positive);
  auto u = scalar("u", "Pa");
  evolve(dtt(u) = sq(vp) * (laplacian(u) + source(u)));
}

// With a density that varies, eliminating v instead leaves
//
//     p_tt = rho vp^2 (div(grad(p)/rho) + s),
//
// the inner gradient on half cells, where the buoyancy 1/rho is the reciprocal of the mean density.
EQUATION(acoustic_density, "Variable density: u_tt/(rho vp^2) = div(grad(u)/rho) + s") {
  auto vp = parameter("vp", "m/s", positive);
  auto rho = parameter("rho", "kg/m^3", positive);
  auto u = scalar("u", "Pa");
  evolve(dtt(u) = rho * sq(vp) * (div(grad(u) / rho) + source(u)));
}

}  // namespace ondula::equations
