// Exact motions of elastic media: whole spaces under forces and moments, half spaces under Garvin's and
// Lamb's. SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "tests/verification/green.hpp"

namespace ondula::test {

/// An isotropic solid: speeds of P and S (m/s), density (kg/m^3).
struct Solid {
  double alpha = 0, beta = 0, rho = 0;
};

/// A source function (s) and its first two derivatives. Displacements come from a force's own function and a
/// moment's rate; a function's derivative in its place gives the velocity.
struct Signal {
  SourceFunction value, slope, curvature;
};

/// (1 - 2a) exp(-a), a = (pi f (t - delay))^2, with its derivatives.
Signal ricker_signal(double frequency, double delay);

// Vectors below are in the axis order z, x or z, y, x; `offset` points from source to receiver (m). Every
// function of time is negligible for t < 0. Integrals are Gauss-Legendre sums of 400 points.

/// 2-D, P-SV: the motion at time t under a force per unit length, `force` times f(t) (Eason, Fulton & Sneddon
/// 1956; the substitution t' = (r/c) cosh theta takes the fronts' singularity away).
std::vector<double> line_force(const SourceFunction& f, const Solid& solid, const std::vector<double>& force,
                               const std::vector<double>& offset, double t);

/// 2-D: the motion that an explosion of moment rate `rate` per unit length (times `unit moment`) makes.
std::vector<double> line_explosion(const SourceFunction& rate, const Solid& solid,
                                   const std::vector<double>& offset, double t);

/// 3-D: the motion under a force (Aki & Richards 2002, eq. 4.23).
std::vector<double> point_force(const SourceFunction& f, const Solid& solid, const std::vector<double>& force,
                                const std::vector<double>& offset, double t);

/// 3-D: the motion under the moment tensor `tensor` (row by row) times m(t), given m and its derivative
/// `rate` (Aki & Richards 2002, eq. 4.29).
std::vector<double> point_moment(const SourceFunction& m, const SourceFunction& rate, const Solid& solid,
                                 const std::vector<double>& tensor, const std::vector<double>& offset,
                                 double t);

/// Motion (z, x) of the free surface at distance x from the epicentre of an explosive line at `depth` with
/// moment rate `rate` (Garvin 1956; Sanchez-Sesma et al. 2013). z points down.
std::vector<double> garvin(const SourceFunction& rate, const Solid& solid, double depth, double x, double t);

/// Vertical motion of the surface of a half space of Poisson's ratio 1/4, at distance r from a vertical force
/// f(t) on it (Pekeris 1955), given f and its derivative `slope`; positive along the force.
double pekeris(const SourceFunction& f, const SourceFunction& slope, const Solid& solid, double r, double t);

}  // namespace ondula::test
