// Analytic traces of acoustic point sources in a homogeneous medium.
// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <vector>

namespace ondula::test {

/// A source function of time (s), negligible for t < 0.
using SourceFunction = std::function<double(double)>;

/// Pressure of (1/c^2) p_tt - laplacian(p) = f(t) delta(x) in two dimensions, at time t and distance r (m), c
/// in m/s (Morse & Feshbach 1953, section 7.3: G = H(t - r/c)/(2 pi sqrt(t^2 - r^2/c^2)), with t' = (r/c)
/// cosh theta):
///   p = 1/(2 pi) int_0^{acosh(ct/r)} f(t - (r/c) cosh theta) dtheta, by Gauss-Legendre with 400 points.
double line_source(const SourceFunction& f, double c, double r, double t);

/// The same in three dimensions: p = f(t - r/c)/(4 pi r).
double point_source(const SourceFunction& f, double c, double r, double t);

/// Samples at k dt, k < count, for 2 or 3 dimensions.
std::vector<double> green_trace(int dims, const SourceFunction& f, double c, double r, double dt, int count);

/// Nodes in (-1, 1) and weights of the n-point Gauss-Legendre rule, by Newton's iteration on P_n (Davis &
/// Rabinowitz 1984, section 2.7).
struct Quadrature {
  std::vector<double> nodes, weights;
};
Quadrature gauss_legendre(int n);

}  // namespace ondula::test
