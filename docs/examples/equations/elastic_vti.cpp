// Elastic waves in a medium that is isotropic along its layers.
// SPDX-License-Identifier: MIT
#include <ondula/dsl.hpp>

// rho v_t = div(s) + f and s_t = c : sym(grad v) - M_t with the five moduli of a transversely isotropic
// medium with a vertical axis, from Thomsen's parameters (Thomsen 1986, eqs. 8 to 11, none of them taken as
// small):
//
//     c33 = rho vp^2,  c55 = rho vs^2,  c11 = c33 (1 + 2 epsilon),  c66 = c55 (1 + 2 gamma),  c12 = c11 - 2
//     c66, c13 = sqrt((c33 - c55)^2 + 2 delta c33 (c33 - c55)) - c55.
//
// The strain energy must be positive: c33 (c11 - c66) > c13^2, in two dimensions c33 c11 > c13^2. gamma takes
// part where there are two horizontal axes.
EQUATION(elastic_vti, "Elastic, transversely isotropic with a vertical axis, Thomsen's parameters") {
  auto vp = parameter("vp", "m/s", positive);
  auto vs = parameter("vs", "m/s", nonnegative);
  auto rho = parameter("rho", "kg/m^3", positive);
  auto epsilon = parameter("epsilon", "1");
  auto delta = parameter("delta", "1");
  auto c33 = rho * sq(vp);
  auto c55 = rho * sq(vs);
  auto c11 = c33 * (1 + 2 * epsilon);
  auto c13 = sqrt((c33 - c55) * (c33 - c55 + 2 * delta * c33)) - c55;
  auto c = stiffness({{"xx", "xx", c11}, {"xx", "zz", c13}, {"zz", "zz", c33}, {"xz", "xz", c55}});
  require(c33 > c55, "vs must be below vp");
  if (has("y")) {
    auto gamma = parameter("gamma", "1");
    auto c66 = c55 * (1 + 2 * gamma);
    c.set("yy", "yy", c11);
    c.set("xx", "yy", c11 - 2 * c66);
    c.set("yy", "zz", c13);
    c.set("yz", "yz", c55);
    c.set("xy", "xy", c66);
    require(c66 >= 0, "gamma below -1/2 leaves a negative shear modulus");
    require(c33 * (c11 - c66) > sq(c13), "the strain energy is not positive");
  } else {
    require(c33 * c11 > sq(c13), "the strain energy is not positive");
  }
  auto v = vector("v", "m/s");
  auto s = symmetric_tensor("s", "Pa");
  evolve(dt(v) = (div(s) + force(v)) / rho);
  evolve(dt(s) = contract(c, sym(grad(v))) - moment_rate(s));
}
