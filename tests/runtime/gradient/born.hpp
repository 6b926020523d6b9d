// Linearised modelling of random problems, and what is measured of it.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <span>

#include "tests/runtime/gradient/problem.hpp"

namespace ondula::test {

/// A random problem and a perturbation of every parameter, as large as the parameter; none where vs is 0.
struct BornSetup {
  explicit BornSetup(const Setting& setting) : problem(random_problem(setting)), random(setting.seed + 100) {
    problem.options.threads = 1;
    problem.options.compile_later = true;
    for (const auto& [name, values] : problem.models) {
      std::vector<double> change = noise(random, values.size(), mean(values));
      for (std::size_t i = 0; i < values.size(); ++i) change[i] = values[i] == 0 ? 0 : change[i];
      perturbation[name] = std::move(change);
    }
  }

  Propagator propagator() const { return problem.propagator(); }
  Propagator propagator(const Arrays& models) const {
    Problem other = problem;
    other.models = models;
    return other.propagator();
  }

  /// The models moved by `h` along the perturbation.
  Arrays moved(double h) const {
    Arrays result = problem.models;
    for (auto& [name, values] : result) {
      for (std::size_t i = 0; i < values.size(); ++i) values[i] += h * perturbation.at(name)[i];
    }
    return result;
  }

  std::span<const Shot> shots() const { return problem.shots; }

  static double mean(const std::vector<double>& values) {
    double sum = 0;
    for (const double v : values) sum += v;
    return sum / static_cast<double>(values.size());
  }

  Problem problem;
  Random random;
  Arrays perturbation;
};

/// The largest difference over the largest value, field by field.
inline double largest_difference(const Records& a, const Records& b) {
  double worst = 0;
  for (std::size_t s = 0; s < a.size(); ++s) {
    for (const auto& [field, traces] : a[s]) {
      double most = 0, apart = 0;
      for (std::size_t i = 0; i < traces.data.size(); ++i) {
        most = std::max(most, std::fabs(traces.data[i]));
        apart = std::max(apart, std::fabs(traces.data[i] - b[s].at(field).data[i]));
      }
      if (most > 0) worst = std::max(worst, apart / most);
    }
  }
  return worst;
}

/// |<Born m, d> - <m, gradient d>| over the product of the norms, for random d of the fields' sizes.
inline double born_dot_error(const Setting& c) {
  BornSetup setup(c);
  Propagator propagator = setup.propagator();
  const Records linear = propagator.born(setup.shots(), setup.perturbation);
  std::vector<AdjointSources> adjoint(1);
  double left = 0, right = 0, of_records = 0, of_adjoint = 0;
  for (const auto& [field, traces] : linear[0]) {
    double size = 0;
    for (const double value : traces.data) size += value * value;
    size = std::sqrt(size / static_cast<double>(traces.data.size()));
    Traces& own = adjoint[0][field] = traces;
    for (std::size_t i = 0; i < own.data.size(); ++i) {
      own.data[i] = size > 0 ? (2 * setup.random.uniform() - 1) / size : 0;
      left += own.data[i] * traces.data[i];
      of_records += size > 0 ? traces.data[i] * traces.data[i] / (size * size) : 0;
      of_adjoint += own.data[i] * own.data[i] * size * size;
    }
  }
  const Gradient gradient = propagator.gradient(setup.shots(), adjoint);
  for (const auto& [name, change] : setup.perturbation) {
    for (std::size_t i = 0; i < change.size(); ++i) right += change[i] * gradient.models.at(name)[i];
  }
  const double scale = std::sqrt(of_records * of_adjoint);
  return scale > 0 ? std::fabs(left - right) / scale : 1;
}

/// How differences of forward runs approach born, all fields scaled to one size.
struct BornDifferences {
  double central = 0;  ///< relative error of the central difference for changes of 1e-4
  double slope =
      0;  ///< log2 of how the first order's remainder falls over the last halving, 2 if born is right
};

inline BornDifferences born_differences(const Setting& c, const State& start = {}) {
  const BornSetup setup(c);
  const auto forward = [&](double h) {
    Propagator propagator = setup.propagator(setup.moved(h));
    propagator.set_state(start);
    return propagator.forward(setup.shots());
  };
  Propagator propagator = setup.propagator();
  propagator.set_state(start);
  const Records linear = propagator.born(setup.shots(), setup.perturbation);
  /// The norm of a - b - h*linear.
  const auto norm = [&](const Records& a, const Records& b, double h) {
    double sum = 0;
    for (const auto& [field, traces] : linear[0]) {
      double size = 0;
      for (const double value : traces.data) size += value * value;
      for (std::size_t i = 0; i < traces.data.size(); ++i) {
        const double rest = a[0].at(field).data[i] - b[0].at(field).data[i] - h * traces.data[i];
        sum += size > 0 ? rest * rest / size : rest * rest;
      }
    }
    return std::sqrt(sum / static_cast<double>(linear[0].size()));
  };
  const Records here = forward(0);
  BornDifferences result;
  result.central = norm(forward(1e-4), forward(-1e-4), 2e-4) / 2e-4;
  result.slope = std::log2(norm(forward(5e-4), here, 5e-4) / norm(forward(2.5e-4), here, 2.5e-4));
  return result;
}

}  // namespace ondula::test
