// Electromagnetic waves in two dimensions, the electric field across the plane: ground-penetrating radar.
// SPDX-License-Identifier: MIT
#include <ondula/dsl.hpp>

// Faraday's and Ampere's laws where nothing depends on y, for E = (0, e, 0) and H = (h_x, 0, h_z) (Yee 1966):
//
//     mu H_t = -curl(E),       epsilon E_t = curl(H) - sigma E - J,
//
// that is mu h_x,t = d_z e, mu h_z,t = -d_x e, epsilon e_t = d_z h_x - d_x h_z - sigma e - j. The source is
// the current density j along y. A plane wave of angular frequency omega has the wavenumber k^2 = omega^2 mu
// epsilon - i omega mu sigma.
EQUATION(maxwell_tm, "Maxwell in 2-D, E across the plane, with a conductivity") {
  auto epsilon = parameter("epsilon", "F/m", positive);
  auto mu = parameter("mu", "H/m", positive);
  auto sigma = parameter("sigma", "S/m", nonnegative);
  auto e = scalar("e", "V/m");
  auto h = axial_vector("h", "A/m");
  evolve(dt(h) = -curl(e) / mu);
  evolve(dt(e) = (curl(h) - sigma * e - source(e)) / epsilon);
}
