// Acoustic waves by speed and impedance.
// SPDX-License-Identifier: MIT
#include <ondula/dsl.hpp>

// The pressure of acoustic_density, u_tt = rho vp^2 (div(grad(u)/rho) + s), with the impedance Z = rho vp in
// the density's place: 1/rho = vp/Z and rho vp^2 = Z vp. Inversions of reflections like the pair: at small
// angles amplitudes depend on Z alone and times on vp alone.
EQUATION(acoustic_impedance, "Acoustic, by speed and impedance: u_tt = Z vp (div(vp/Z grad(u)) + s)") {
  auto vp = parameter("vp", "m/s", positive);
  auto impedance = parameter("impedance", "kg/m^2/s", positive);
  auto u = scalar("u", "Pa");
  evolve(dtt(u) = impedance * vp * (div(vp / impedance * grad(u)) + source(u)));
}
