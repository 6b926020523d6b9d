// Acoustic waves in a medium that is stiffer along its layers than across them.
// SPDX-License-Identifier: MIT
#include <ondula/dsl.hpp>

// Hooke's law of a transversely isotropic medium with a vertical axis, without shear stiffness (Alkhalifah
// 1998; Duveneck, Milcik, Bakker and Perkins 2008, in velocities and stresses): with the strain rates H = d_x
// v_x + d_y v_y and V = d_z v_z, and Thomsen's epsilon and delta,
//
//     c11 = c12 = rho vp^2 (1 + 2 epsilon),   c33 = rho vp^2,   c13 = c33 sqrt(1 + 2 delta),
//     sh_t = c11 H + c13 V,   sv_t = c13 H + c33 V,
//     rho v_x,t = d_x sh,   rho v_y,t = d_y sh,   rho v_z,t = d_z sv.
//
// The moduli are symmetric, so there is an energy, v.rho.v + s.c^-1.s; it is no energy where c11 c33 < c13^2,
// that is epsilon < delta: there one of the waves grows, and such models are refused. Waves run with vp down
// and with vp sqrt(1 + 2 epsilon) sideways. Besides them there is a slow wave, an artefact, with speed 0
// along the axes: keep sources where epsilon = delta. A source of sh is a volume that expands in all
// directions alike, and feeds both stresses through the moduli: a stress that no strain can undo would push
// forever. A free surface makes both stresses 0, which is exact where the uppermost rows are isotropic.
EQUATION(vti_acoustic, "Acoustic, transversely isotropic with a vertical axis, in velocities and stresses") {
  auto vp = parameter("vp", "m/s", positive);
  auto rho = parameter("rho", "kg/m^3", positive);
  auto epsilon = parameter("epsilon", "1");
  auto delta = parameter("delta", "1");
  require(epsilon >= delta, "epsilon < delta, where the equation has waves that grow");
  auto c33 = rho * sq(vp);
  auto c11 = c33 * (1 + 2 * epsilon);
  auto c13 = c33 * sqrt(1 + 2 * delta);
  auto v = vector("v", "m/s");
  auto sh = scalar("sh", "Pa");
  auto sv = scalar("sv", "Pa");
  for (const auto& axis : horizontal()) evolve(dt(v[axis]) = (d(sh, axis) + force(v)[axis]) / rho);
  evolve(dt(v["z"]) = (d(sv, "z") + force(v)["z"]) / rho);
  auto across = d(v["x"], "x");
  if (has("y")) across = across + d(v["y"], "y");
  auto down = d(v["z"], "z");
  const auto n = static_cast<double>(horizontal().size());
  auto volume = source(sh) / ((n + 1) * c33);
  evolve(dt(sh) = c11 * (across + n * volume) + c13 * (down + volume));
  evolve(dt(sv) = c13 * (across + n * volume) + c33 * (down + volume));
}
