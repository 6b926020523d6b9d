// A program, its domain and the oracle on it: what every test of the reference starts from.
// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <functional>
#include <map>
#include <numbers>
#include <string>
#include <vector>

#include "compiler/dsl/dsl.hpp"
#include "compiler/passes/absorb.hpp"
#include "compiler/passes/check.hpp"
#include "compiler/passes/discretize_time.hpp"
#include "compiler/passes/stencil.hpp"
#include "compiler/passes/surface.hpp"
#include "compiler/reference/executor.hpp"

namespace ondula::test {

/// The forward program of `definition` after the passes up to absorb.
inline ir::Program program(const EquationDefinition& definition, int dims, int order,
                           bool stretched = false) {
  const ir::Equation checked = passes::check(definition.instantiate(default_axes(dims)));
  return passes::absorb(passes::surface(passes::discretize_time(checked, order)), stretched);
}

/// `shape` nodes per axis with equal spacing, the same face all around and no layer.
inline ir::Domain domain(const std::vector<std::int64_t>& shape, double spacing, FaceKind face) {
  ir::Domain result;
  result.dims = static_cast<int>(shape.size());
  for (std::size_t a = 0; a < shape.size(); ++a) {
    result.shape[a] = shape[a];
    result.faces[a] = {face, face};
    result.spacing[a] = spacing;
  }
  return result;
}

/// `width` cells of layer on every face.
inline ir::Domain with_layers(ir::Domain domain, std::int64_t width) {
  for (std::size_t a = 0; a < static_cast<std::size_t>(domain.dims); ++a) {
    domain.faces[a] = {FaceKind::absorbing, FaceKind::absorbing};
    domain.pad[a] = {width, width};
  }
  return domain;
}

/// A value per point of the padded grid, C order, from f(i) with i the padded indices.
inline std::vector<double> sampled(const ir::Domain& domain,
                                   const std::function<double(const ir::Extents&)>& f) {
  std::vector<double> values;
  ir::Extents i{};
  for (i[0] = 0; i[0] < domain.total(0); ++i[0]) {
    for (i[1] = 0; i[1] < domain.total(1); ++i[1]) {
      for (i[2] = 0; i[2] < domain.total(2); ++i[2]) values.push_back(f(i));
    }
  }
  return values;
}

inline std::vector<double> constant(const ir::Domain& domain, double value) {
  return std::vector<double>(static_cast<std::size_t>(domain.points()), value);
}

/// The flat index of a point of the padded grid.
inline std::size_t flat_index(const ir::Domain& domain, std::int64_t i, std::int64_t j = 0,
                              std::int64_t k = 0) {
  return static_cast<std::size_t>((i * domain.total(1) + j) * domain.total(2) + k);
}

/// The time step without sources or receivers, `count` times.
template <class Real>
void run(reference::Executor<Real>& executor, int count) {
  for (int n = 0; n < count; ++n) executor.step(n, {}, {}, {});
}

/// S(theta) = -(a_0 + 2 sum a_m cos m theta): minus h^2 times the symbol of the second derivative.
inline double second_symbol(int order, double theta) {
  const auto weights = passes::second_derivative(order);
  double sum = weights[0].value();
  for (std::size_t m = 1; m < weights.size(); ++m) {
    sum += 2 * weights[m].value() * std::cos(static_cast<double>(m) * theta);
  }
  return -sum;
}

/// sum c_m sin((2m - 1) theta/2): h/(2i) times the symbol of the staggered first derivative.
inline double staggered_symbol(int order, double theta) {
  const auto weights = passes::staggered(order);
  double sum = 0;
  for (std::size_t m = 1; m <= weights.size(); ++m) {
    sum += weights[m - 1].value() * std::sin((2 * static_cast<double>(m) - 1) * theta / 2);
  }
  return sum;
}

}  // namespace ondula::test
