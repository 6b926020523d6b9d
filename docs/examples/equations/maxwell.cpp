// Electromagnetic waves in three dimensions, with a conductivity.
// SPDX-License-Identifier: MIT
#include <ondula/dsl.hpp>

// Faraday's and Ampere's laws on Yee's grid (1966): components of E half a cell along their own axis, those
// of H half a cell along both others,
//
//     mu H_t = -curl(E),       epsilon E_t = curl(H) - sigma E - J.
//
// The impressed current J is what a source of kind `force` gives, a current element along its direction. A
// plane wave of angular frequency omega has the wavenumber k^2 = omega^2 mu epsilon - i omega mu sigma.
EQUATION(maxwell, "Maxwell in 3-D with a conductivity (Yee 1966)") {
  auto epsilon = parameter("epsilon", "F/m", positive);
  auto mu = parameter("mu", "H/m", positive);
  auto sigma = parameter("sigma", "S/m", nonnegative);
  auto e = vector("e", "V/m");
  auto h = axial_vector("h", "A/m");
  evolve(dt(h) = -curl(e) / mu);
  evolve(dt(e) = (curl(h) - sigma * e - force(e)) / epsilon);
}
