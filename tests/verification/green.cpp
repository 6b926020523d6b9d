// Green's functions and the quadrature they need.
// SPDX-License-Identifier: MIT
#include "tests/verification/green.hpp"

#include <cmath>
#include <numbers>

namespace ondula::test {

using std::numbers::pi;

Quadrature gauss_legendre(int n) {
  Quadrature rule;
  for (int i = 0; i < n; ++i) {
    double x = std::cos(pi * (i + 0.75) / (n + 0.5));
    double slope = 0;
    for (int iteration = 0; iteration < 8; ++iteration) {
      double before = 1, value = x;  // P_0, P_1, then the three-term recurrence
      for (int k = 2; k <= n; ++k) {
        const double next = ((2 * k - 1) * x * value - (k - 1) * before) / k;
        before = value;
        value = next;
      }
      slope = n * (x * value - before) / (x * x - 1);
      x -= value / slope;
    }
    rule.nodes.push_back(x);
    rule.weights.push_back(2 / ((1 - x * x) * slope * slope));
  }
  return rule;
}

double line_source(const SourceFunction& f, double c, double r, double t) {
  static const Quadrature rule = gauss_legendre(400);
  if (c * t <= r) return 0;
  const double end = std::acosh(c * t / r);
  double sum = 0;
  for (std::size_t i = 0; i < rule.nodes.size(); ++i) {
    const double theta = end * (1 + rule.nodes[i]) / 2;
    sum += rule.weights[i] * f(t - r / c * std::cosh(theta));
  }
  return sum * end / 2 / (2 * pi);
}

double point_source(const SourceFunction& f, double c, double r, double t) {
  return t > r / c ? f(t - r / c) / (4 * pi * r) : 0;
}

std::vector<double> green_trace(int dims, const SourceFunction& f, double c, double r, double dt, int count) {
  std::vector<double> trace;
  for (int k = 0; k < count; ++k) {
    trace.push_back(dims == 2 ? line_source(f, c, r, k * dt) : point_source(f, c, r, k * dt));
  }
  return trace;
}

}  // namespace ondula::test
