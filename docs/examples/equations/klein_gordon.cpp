// Waves with a restoring force of their own: a stretched string on an elastic bed, a field with mass.
// SPDX-License-Identifier: MIT
#include <ondula/dsl.hpp>

// A string of tension T and line density r on a bed of stiffness k per length has r u_tt = T u_xx - k u + f.
// With c^2 = T/r and the cut-off frequency m^2 = k/r (in physics m c^2/hbar of the particle),
//
//     u_tt = c^2 laplacian(u) - m^2 u + s,
//
// whose plane waves obey omega^2 = c^2 k^2 + m^2: slower than m nothing travels, and groups run with
// c^2 k/omega, below c. The energy u_t^2 + c^2 |grad u|^2 + m^2 u^2 is kept.
EQUATION(klein_gordon, "Klein-Gordon: u_tt = vp^2 laplacian(u) - m^2 u + s") {
  auto vp = parameter("vp", "m/s", positive);
  auto m = parameter("m", "1/s", nonnegative);
  auto u = scalar("u", "Pa");
  evolve(dtt(u) = sq(vp) * (laplacian(u) + source(u)) - sq(m) * u);
}
