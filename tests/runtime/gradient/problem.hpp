// A gradient to test, stated in a few lines: a model of noise, sources and receivers, a misfit.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tests/verification/setup.hpp"

namespace ondula::test {

/// What a problem is drawn from. `faces`: a letter for each side of each axis, axes slowest first, repeated
/// as needed: l(ayer), f(ree), r(igid), p(eriodic), a(ntisymmetric). Layers are 4 to 6 cells wide.
struct Setting {
  std::string equation = "acoustic";
  int dims = 2;
  int order = 4;
  std::string faces = "l";
  Backend backend = Backend::host;
  DType dtype = DType::float64;
  int substeps = 1;
  bool initial = false;  ///< an initial state of noise
  bool fluid = false;    ///< vs = 0 in the upper third
  bool middle = false;   ///< the fluid lies in the middle third instead
  double kappa = 1;
  std::int64_t steps = 40;
  std::uint64_t seed = 1;
  std::int64_t more = 0;  ///< nodes along each axis
};

std::string text(const Setting& setting);

using Arrays = std::map<std::string, std::vector<double>>;

struct Problem {
  EquationDefinition equation = equations::acoustic();
  Grid grid;
  PropagatorOptions options;
  Arrays models, initial;
  std::vector<Shot> shots;

  std::size_t nodes() const;
  /// A node's place in a model.
  std::size_t at(const std::vector<std::int64_t>& node) const;
  /// The model, initial state and kernels are compiled when first needed.
  Propagator propagator() const;
  /// models and initial state into an existing one.
  void give(Propagator& propagator) const;
};

/// Models of noise of 15 %; four sources of every kind and receivers of many, off the nodes, one of each so
/// near the first face that its window is cut or folded.
Problem random_problem(const Setting& setting);

/// The grid, options and models alone; shots are empty.
Problem random_medium(const Setting& setting);

std::vector<double> noise(Random& random, std::size_t count, double size = 1);

/// A misfit with curvature: J = sum over traces of weight/2 * |record - target|^2, the weight of a field such
/// that all fields count alike.
struct LeastSquares {
  Records target;
  std::map<std::string, double> weights;

  /// The target: what other models, wavelets and initial states record.
  explicit LeastSquares(const Problem& problem);
  double value(const Records& records) const;
  AdjointSources adjoint(std::int64_t shot, const std::map<std::string, Traces>& records) const;
  /// To give to Propagator::gradient.
  MisfitFunction function() const;
};

/// sqrt(mean square), at least 1e-300.
double size_of(const std::vector<double>& values);

/// max|g - reference|/max|reference| over parameters, each by itself.
double worst_difference(const Arrays& gradient, const Arrays& reference);

}  // namespace ondula::test
