// Elastic waves in a medium with three planes of symmetry, normal to the axes.
// SPDX-License-Identifier: MIT
#include <ondula/dsl.hpp>

// rho v_t = div(s) + f and s_t = c : sym(grad v) - M_t with nine moduli (Tsvankin 1997), in two dimensions
// with the four of the plane. Layers cut by vertical cracks are such media. The strain energy must be
// positive: shear moduli, and the leading minors of the 3 x 3 matrix of the others.
EQUATION(elastic_orthorhombic, "Elastic, orthorhombic along the axes, by its moduli") {
  auto rho = parameter("rho", "kg/m^3", positive);
  auto c11 = parameter("c11", "Pa", positive);
  auto c33 = parameter("c33", "Pa", positive);
  auto c55 = parameter("c55", "Pa", positive);
  auto c13 = parameter("c13", "Pa");
  auto c = stiffness({{"xx", "xx", c11}, {"xx", "zz", c13}, {"zz", "zz", c33}, {"xz", "xz", c55}});
  require(c11 * c33 > sq(c13), "the strain energy is not positive: c11 c33 <= c13^2");
  if (has("y")) {
    auto c22 = parameter("c22", "Pa", positive);
    auto c44 = parameter("c44", "Pa", positive);
    auto c66 = parameter("c66", "Pa", positive);
    auto c12 = parameter("c12", "Pa");
    auto c23 = parameter("c23", "Pa");
    c.set("yy", "yy", c22);
    c.set("yz", "yz", c44);
    c.set("xy", "xy", c66);
    c.set("xx", "yy", c12);
    c.set("yy", "zz", c23);
    auto minor = c11 * c33 - sq(c13);
    require(c22 * minor + c12 * (c13 * c23 - c12 * c33) + c23 * (c12 * c13 - c11 * c23) > 0,
            "the strain energy is not positive");
  }
  auto v = vector("v", "m/s");
  auto s = symmetric_tensor("s", "Pa");
  evolve(dt(v) = (div(s) + force(v)) / rho);
  evolve(dt(s) = contract(c, sym(grad(v))) - moment_rate(s));
}
