// The formulas of elastic motions, each as its source states it.
// SPDX-License-Identifier: MIT
#include "tests/verification/elastic_solutions.hpp"

#include <cmath>
#include <complex>
#include <functional>
#include <numbers>

namespace ondula::test {

namespace {

using std::numbers::pi;

double integral(double begin, double end, const std::function<double(double)>& f) {
  static const Quadrature rule = gauss_legendre(400);
  double sum = 0;
  for (std::size_t i = 0; i < rule.nodes.size(); ++i)
    sum += rule.weights[i] * f(begin + (end - begin) * (1 + rule.nodes[i]) / 2);
  return sum * (end - begin) / 2;
}

/// The integral over theta from 0 until the front of speed c has passed r: times up to t.
double behind_front(double c, double r, double t, const std::function<double(double)>& f) {
  return c * t > r ? integral(0, std::acosh(c * t / r), f) : 0;
}

double length(const std::vector<double>& offset) {
  double sum = 0;
  for (const double d : offset) sum += d * d;
  return std::sqrt(sum);
}

std::vector<double> direction(const std::vector<double>& offset) {
  std::vector<double> unit = offset;
  for (double& d : unit) d /= length(offset);
  return unit;
}

double delta(std::size_t i, std::size_t j) { return i == j ? 1 : 0; }

}  // namespace

Signal ricker_signal(double frequency, double delay) {
  const double s = pi * frequency * pi * frequency;
  const auto of = [=](auto polynomial) {
    return [=](double t) {
      const double tau = t - delay;
      return polynomial(tau, s * tau * tau) * std::exp(-s * tau * tau);
    };
  };
  return {of([](double, double a) { return 1 - 2 * a; }),
          of([s](double tau, double a) { return s * tau * (4 * a - 6); }),
          of([s](double, double a) { return s * (-8 * a * a + 24 * a - 6); })};
}

std::vector<double> line_force(const SourceFunction& f, const Solid& solid, const std::vector<double>& force,
                               const std::vector<double>& offset, double t) {
  const double r = length(offset), a = solid.alpha, b = solid.beta;
  const std::vector<double> g = direction(offset);
  // Both waves' integrals, alone and with sinh^2.
  const auto sums = [&](double c) {
    const auto weighted = [&](bool sinh_squared) {
      return behind_front(c, r, t, [&](double theta) {
        const double sinh = std::sinh(theta);
        return f(t - r / c * std::cosh(theta)) * (sinh_squared ? sinh * sinh : 1) / (c * c);
      });
    };
    return std::pair(weighted(false), weighted(true));
  };
  const auto [p, p_sinh] = sums(a);
  const auto [s, s_sinh] = sums(b);
  std::vector<double> u(2, 0.0);
  for (std::size_t i = 0; i < 2; ++i) {
    for (std::size_t j = 0; j < 2; ++j) {
      const double along = g[i] * g[j], turned = 2 * along - delta(i, j);
      u[i] += force[j] / (2 * pi * solid.rho) *
              (p * along + p_sinh * turned + s * (delta(i, j) - along) - s_sinh * turned);
    }
  }
  return u;
}

std::vector<double> line_explosion(const SourceFunction& rate, const Solid& solid,
                                   const std::vector<double>& offset, double t) {
  const double r = length(offset), a = solid.alpha;
  const double radial =
      behind_front(a, r, t,
                   [&](double theta) { return rate(t - r / a * std::cosh(theta)) * std::cosh(theta); }) /
      (2 * pi * solid.rho * a * a * a);
  std::vector<double> u = direction(offset);
  for (double& component : u) component *= radial;
  return u;
}

namespace {

/// int tau f(t - tau) between the fronts of P and S.
double near_field(const SourceFunction& f, const Solid& solid, double r, double t) {
  return integral(r / solid.alpha, r / solid.beta, [&](double tau) { return tau * f(t - tau); });
}

}  // namespace

std::vector<double> point_force(const SourceFunction& f, const Solid& solid, const std::vector<double>& force,
                                const std::vector<double>& offset, double t) {
  const double r = length(offset), a = solid.alpha, b = solid.beta;
  const std::vector<double> g = direction(offset);
  const double near = near_field(f, solid, r, t) / (r * r);
  const double p = f(t - r / a) / (a * a), s = f(t - r / b) / (b * b);
  std::vector<double> u(3, 0.0);
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 3; ++j) {
      const double along = g[i] * g[j];
      u[i] += force[j] / (4 * pi * solid.rho * r) *
              ((3 * along - delta(i, j)) * near + along * p + (delta(i, j) - along) * s);
    }
  }
  return u;
}

std::vector<double> point_moment(const SourceFunction& m, const SourceFunction& rate, const Solid& solid,
                                 const std::vector<double>& tensor, const std::vector<double>& offset,
                                 double t) {
  const double r = length(offset), a = solid.alpha, b = solid.beta;
  const std::vector<double> g = direction(offset);
  const double near = near_field(m, solid, r, t) / (r * r * r);
  const double p = m(t - r / a) / (a * a * r), s = m(t - r / b) / (b * b * r);
  const double p_far = rate(t - r / a) / (a * a * a), s_far = rate(t - r / b) / (b * b * b);
  std::vector<double> u(3, 0.0);
  for (std::size_t n = 0; n < 3; ++n) {
    for (std::size_t k = 0; k < 9; ++k) {
      const std::size_t i = k / 3, j = k % 3;
      const double cube = g[n] * g[i] * g[j];
      const double on_n = g[n] * delta(i, j), on_i = g[i] * delta(n, j), on_j = g[j] * delta(n, i);
      u[n] += tensor[k] / (4 * pi * solid.rho * r) *
              ((15 * cube - 3 * on_n - 3 * on_i - 3 * on_j) * near + (6 * cube - on_n - on_i - on_j) * p -
               (6 * cube - on_n - on_i - 2 * on_j) * s + cube * p_far - (cube - on_j) * s_far);
    }
  }
  return u;
}

std::vector<double> garvin(const SourceFunction& rate, const Solid& solid, double depth, double x, double t) {
  using Complex = std::complex<double>;
  const double a = solid.alpha, b = solid.beta, r = std::hypot(x, depth);
  const auto motion = [&](bool vertical) {
    return behind_front(a, r, t, [&](double theta) {
      const double late = r / a * std::cosh(theta), q = r / a * std::sinh(theta);
      const Complex p = Complex(depth * q, -x * late) / (r * r);
      const Complex eta_a = Complex(depth * late, -x * q) / (r * r);
      const Complex eta_b = std::sqrt(1 / (b * b) + p * p);
      const Complex omega = 1 / (b * b) + 2.0 * p * p;
      const Complex rayleigh = omega * omega - 4.0 * p * p * eta_a * eta_b;
      const Complex response =
          vertical ? -omega * eta_a / rayleigh : Complex(0, 2) * p * eta_a * eta_b / rayleigh;
      return rate(t - late) * response.real();
    });
  };
  const double scale = pi * solid.rho * a * a * b * b;
  return {motion(true) / scale, motion(false) / scale};
}

double pekeris(const SourceFunction& f, const SourceFunction& slope, const Solid& solid, double r, double t) {
  const double root = std::sqrt(3.0), unit = r / solid.beta;
  const double front = 1 / root, rayleigh = std::sqrt(3 + root) / 2;
  const auto before = [&](double tau) { return slope(t - unit * tau); };
  const double large = std::sqrt(3 * root + 5), small = std::sqrt(3 * root - 5);
  double sum = integral(front, 1, [&](double tau) {
    const double square = tau * tau;
    return before(tau) *
           (6 - root / std::sqrt(square - 0.25) - large / std::sqrt(rayleigh * rayleigh - square) +
            small / std::sqrt(square + root / 4 - 0.75));
  });
  // tau = rayleigh sin(theta) takes the root's singularity away.
  sum += integral(std::asin(1 / rayleigh), pi / 2, [&](double theta) {
    return before(rayleigh * std::sin(theta)) * (12 * rayleigh * std::cos(theta) - 2 * large);
  });
  const double mu = solid.rho * solid.beta * solid.beta;
  return (unit * sum + 12 * f(t - unit * rayleigh)) / (32 * pi * mu * r);
}

}  // namespace ondula::test
