// Misfits along directions.
// SPDX-License-Identifier: MIT
#include "tests/runtime/gradient/objective.hpp"

#include <doctest/doctest.h>

#include <cmath>

namespace ondula::test {
namespace {

void add(Arrays& into, const Arrays& direction, double h) {
  for (const auto& [name, values] : direction) {
    std::vector<double>& own = into.at(name);
    for (std::size_t i = 0; i < own.size(); ++i) own[i] += h * values[i];
  }
}

double product(const Arrays& gradient, const Arrays& direction) {
  double sum = 0;
  for (const auto& [name, values] : direction) {
    const std::vector<double>& own = gradient.at(name);
    for (std::size_t i = 0; i < own.size(); ++i) sum += own[i] * values[i];
  }
  return sum;
}

double step_of(const Problem& problem, const std::string& parameter, std::size_t node, double relative) {
  const double value = problem.models.at(parameter)[node];
  return relative * (value == 0 ? 1000 : value);
}

}  // namespace

Problem moved(const Problem& problem, const Direction& direction, double h) {
  Problem result = problem;
  add(result.models, direction.models, h);
  add(result.initial, direction.initial, h);
  for (std::size_t s = 0; s < direction.wavelets.size(); ++s) {
    for (std::size_t i = 0; i < direction.wavelets[s].size(); ++i) {
      const std::vector<double>& change = direction.wavelets[s][i];
      std::vector<double>& wavelet = result.shots[s].sources[i].wavelet;
      for (std::size_t k = 0; k < change.size(); ++k) wavelet[k] += h * change[k];
    }
  }
  return result;
}

double slope(const Gradient& gradient, const Direction& direction) {
  double sum = product(gradient.models, direction.models) + product(gradient.initial, direction.initial);
  for (std::size_t s = 0; s < direction.wavelets.size(); ++s) {
    for (std::size_t i = 0; i < direction.wavelets[s].size(); ++i) {
      for (std::size_t k = 0; k < direction.wavelets[s][i].size(); ++k)
        sum += gradient.wavelets[s][i][k] * direction.wavelets[s][i][k];
    }
  }
  return sum;
}

Objective::Objective(const Problem& problem)
    : problem_(problem), misfit_(problem), propagator_(problem.propagator()) {}

double Objective::value(const Problem& problem) {
  problem.give(propagator_);
  return misfit_.value(propagator_.forward(problem.shots));
}

Gradient Objective::gradient() {
  problem_.give(propagator_);
  GradientOptions options;
  options.wavelets = true;
  options.initial = !problem_.initial.empty();
  return propagator_.gradient(problem_.shots, misfit_.function(), options);
}

double Objective::difference(const std::string& parameter, std::size_t node, double relative) {
  const double h = step_of(problem_, parameter, node, relative);
  Problem other = problem_;
  double& value = other.models.at(parameter)[node];
  const double kept = value;
  value = kept + h;
  const double above = this->value(other);
  value = kept - h;
  const double below = this->value(other);
  return (above - below) / (2 * h);
}

double Taylor::last_slope() const { return std::log2(rests[2] / rests[3]); }

Taylor taylor(Objective& objective, const Gradient& gradient, const Direction& direction) {
  Taylor result;
  result.value = objective.value(objective.problem());
  const double first = slope(gradient, direction);
  double h = 1;
  for (double& rest : result.rests) {
    rest = std::fabs(objective.value(moved(objective.problem(), direction, h)) - result.value - h * first);
    h /= 2;
  }
  return result;
}

Direction one_node(const Problem& problem, const std::string& parameter, std::size_t node, double relative) {
  Direction direction;
  direction.models[parameter].assign(problem.nodes(), 0.0);
  direction.models[parameter][node] = step_of(problem, parameter, node, relative);
  return direction;
}

Direction whole_model(const Problem& problem, const std::string& parameter, std::uint64_t seed) {
  Random random(seed);
  Direction direction;
  direction.models[parameter] = problem.models.at(parameter);
  for (double& v : direction.models[parameter]) v *= 4e-3 * (2 * random.uniform() - 1);
  return direction;
}

void check_taylor(Objective& objective, const Gradient& gradient, const Direction& direction,
                  const std::string& what) {
  const Taylor found = taylor(objective, gradient, direction);
  CAPTURE(what);
  CAPTURE(found.value);
  CAPTURE(found.rests[0]);
  CAPTURE(found.rests[1]);
  CAPTURE(found.rests[2]);
  CAPTURE(found.rests[3]);
  CHECK(found.last_slope() == doctest::Approx(2).epsilon(0.025));
}

}  // namespace ondula::test
