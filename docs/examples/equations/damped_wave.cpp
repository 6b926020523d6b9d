// A wave that loses energy everywhere, in proportion to how fast it moves.
// SPDX-License-Identifier: MIT
#include <ondula/dsl.hpp>

// The telegraph equation
//
//     u_tt + eta u_t = vp^2 (laplacian(u) + s).
//
// A standing wave of wavenumber k is exp(-eta t/2) cos(omega t + phase) with omega^2 = (vp k)^2 - (eta/2)^2:
// all wavelengths fade alike. eta in 1/s; a quality factor Q at the angular frequency omega has eta =
// omega/Q.
EQUATION(damped_wave, "u_tt + eta u_t = vp^2 (laplacian(u) + s)") {
  auto vp = parameter("vp", "m/s", positive);
  auto eta = parameter("eta", "1/s", nonnegative);
  auto u = scalar("u", "Pa");
  evolve(dtt(u) = sq(vp) * (laplacian(u) + source(u)) - eta * dt(u));
}
