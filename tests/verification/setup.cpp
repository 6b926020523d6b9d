// Runs in a few lines.
// SPDX-License-Identifier: MIT
#include "tests/verification/setup.hpp"

#include <cmath>
#include <numbers>

namespace ondula::test {

using std::numbers::pi;

Grid grid(const std::vector<std::int64_t>& shape, double spacing, Face face) {
  Grid result;
  result.axes = default_axes(static_cast<int>(shape.size()));
  result.shape = shape;
  result.spacing.assign(shape.size(), spacing);
  result.origin.assign(shape.size(), 0.0);
  result.faces.assign(shape.size(), {face, face});
  return result;
}

PropagatorOptions options(double dt, std::int64_t steps, int order) {
  PropagatorOptions result;
  result.dt = dt;
  result.steps = steps;
  result.order = order;
  result.substeps = 1;
  result.dtype = DType::float64;
  result.threads = 1;
  return result;
}

double ricker(double frequency, double tau) {
  const double a = pi * frequency * tau * (pi * frequency * tau);
  return (1 - 2 * a) * std::exp(-a);
}

std::vector<double> ricker_wavelet(double frequency, double delay, double dt, std::int64_t count) {
  std::vector<double> samples;
  for (std::int64_t k = 0; k < count; ++k)
    samples.push_back(ricker(frequency, static_cast<double>(k) * dt - delay));
  return samples;
}

Source source(const std::vector<double>& position, const std::vector<double>& wavelet,
              Interpolation interpolation) {
  Source result;
  result.field = "u";
  result.position = position;
  result.wavelet = wavelet;
  result.interpolation = interpolation;
  return result;
}

Receiver receiver(const std::vector<double>& position, Interpolation interpolation) {
  return {"u", position, interpolation};
}

std::vector<std::vector<double>> acoustic_traces(const Grid& grid, const PropagatorOptions& options,
                                                 const std::vector<double>& vp, const Shot& shot) {
  Propagator propagator(equations::acoustic(), grid, options);
  if (vp.size() == 1)
    propagator.set_model("vp", vp[0]);
  else
    propagator.set_model("vp", vp);
  return rows(propagator.forward({&shot, 1}).at(0).at("u"));
}

std::vector<std::vector<double>> rows(const Traces& traces) {
  std::vector<std::vector<double>> result;
  for (std::int64_t r = 0; r < traces.receivers; ++r) {
    const auto begin = traces.data.begin() + r * traces.samples;
    result.emplace_back(begin, begin + traces.samples);
  }
  return result;
}

double energy(std::span<const double> values) {
  double sum = 0;
  for (const double v : values) sum += v * v;
  return sum;
}

std::vector<double> difference(std::span<const double> a, std::span<const double> b) {
  std::vector<double> result(a.begin(), a.end());
  for (std::size_t i = 0; i < result.size(); ++i) result[i] -= b[i];
  return result;
}

std::vector<double> on_nodes(const Grid& grid,
                             const std::function<double(const std::vector<std::int64_t>&)>& f) {
  std::vector<double> values;
  std::vector<std::int64_t> node(grid.shape.size(), 0);
  for (bool more = true; more;) {
    values.push_back(f(node));
    std::size_t axis = node.size();
    for (more = false; axis-- > 0 && !more;) {
      more = ++node[axis] < grid.shape[axis];
      if (!more) node[axis] = 0;
    }
  }
  return values;
}

double Random::uniform() {
  state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL;
  return static_cast<double>(state_ >> 11) * 0x1p-53;
}

double Random::normal() {
  const double radius = std::sqrt(-2 * std::log(1 - uniform()));
  return radius * std::cos(2 * pi * uniform());
}

double second_derivative_symbol(int order, double theta) {
  const int half = order / 2;
  double sum = 0;
  for (int m = 1; m <= half; ++m) {
    double ratio = 1;  // (M!)^2 / ((M-m)! (M+m)!)
    for (int i = 1; i <= m; ++i) ratio *= static_cast<double>(half - m + i) / static_cast<double>(half + i);
    const double weight = 2 * (m % 2 == 0 ? -1 : 1) * ratio / (static_cast<double>(m) * m);
    const double sine = std::sin(m * theta / 2);
    sum += 4 * weight * sine * sine;  // -a_0 = 2 sum a_m, since a constant has no derivative
  }
  return sum;
}

double acoustic_limit(int order, int dims, double spacing, double c) {
  return 2 * spacing / (c * std::sqrt(dims * second_derivative_symbol(order, pi)));
}

}  // namespace ondula::test
