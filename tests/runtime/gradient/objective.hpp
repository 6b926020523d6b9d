// A misfit as a function of models, wavelets and initial states, its gradient, and finite differences of it.
// SPDX-License-Identifier: MIT
#pragma once

#include "tests/runtime/gradient/problem.hpp"

namespace ondula::test {

/// A change of a problem; wavelets [shot][source][sample]. What is left out stays.
struct Direction {
  Arrays models, initial;
  std::vector<std::vector<std::vector<double>>> wavelets;
};

Problem moved(const Problem& problem, const Direction& direction, double h);

/// The slope along a direction.
double slope(const Gradient& gradient, const Direction& direction);

class Objective {
 public:
  explicit Objective(const Problem& problem);

  const Problem& problem() const { return problem_; }
  double value(const Problem& problem);
  Gradient gradient();
  /// Central difference along one node's value of a parameter, by `relative` of it (or of 1000 where it is
  /// 0).
  double difference(const std::string& parameter, std::size_t node, double relative = 1e-4);

 private:
  Problem problem_;
  LeastSquares misfit_;
  Propagator propagator_;
};

/// J(m + h d) - J(m) - h <g, d> for h = 1, 1/2, 1/4, 1/8.
struct Taylor {
  double value = 0;
  std::array<double, 4> rests{};
  /// Between the last two.
  double last_slope() const;
};

Taylor taylor(Objective& objective, const Gradient& gradient, const Direction& direction);

/// One node of a parameter, by `relative` of its value (or of 1000 where it is 0). The default is small since
/// a node's second derivative may be far smaller than its third.
Direction one_node(const Problem& problem, const std::string& parameter, std::size_t node,
                   double relative = 2e-3);

/// Every node of a parameter by noise of at most 0.4 %.
Direction whole_model(const Problem& problem, const std::string& parameter, std::uint64_t seed = 3);

/// Checks that the last slope is 2 +- 0.05.
void check_taylor(Objective& objective, const Gradient& gradient, const Direction& direction,
                  const std::string& what);

}  // namespace ondula::test
