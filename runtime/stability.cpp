// Which limit holds for which equation.
// SPDX-License-Identifier: MIT
#include "runtime/stability.hpp"

#include <cmath>
#include <set>

#include "compiler/passes/stencil.hpp"
#include "runtime/collatz.hpp"
#include "runtime/conditions.hpp"

namespace ondula {
namespace {

/// u_tt = K times the sum of second derivatives of u along every axis, K outside all derivatives.
bool constant_density(const ir::Program& program, const Scheme& scheme) {
  if (!scheme.second_order() || scheme.stages[0].size() != 1) return false;
  const FieldTerms& u = scheme.stages[0][0];
  std::set<int> axes;
  for (const Term& term : u.terms) {
    if (term.slopes.size() != 1 || term.slopes[0].order != 2 || term.field != u.field) return false;
    if (term.scale != u.terms[0].scale || term.factors.size() != u.terms[0].factors.size()) return false;
    for (std::size_t i = 0; i < term.factors.size(); ++i) {
      if (term.factors[i].depth != 0 || !(term.factors[i].nodal == u.terms[0].factors[i].nodal)) return false;
    }
    axes.insert(term.slopes[0].axis);
  }
  return axes.size() == program.axes.size() && u.terms.size() == axes.size();
}

}  // namespace

Limits limits(const ir::Program& physical, const ir::Domain& domain, const loop::Models& models,
              int threads) {
  const Scheme scheme = scheme_of(physical);
  const std::vector<std::int64_t> shape(domain.shape.begin(), domain.shape.begin() + domain.dims);
  require_conditions(physical, scheme, domain, models, threads);
  Limits result{speeds(physical, scheme, models, shape), 0, {}};
  if (constant_density(physical, scheme)) {
    const std::vector<double> spacing(domain.spacing.begin(), domain.spacing.begin() + domain.dims);
    result.step = cfl_limit(physical.order, spacing, result.speeds.fastest);
    result.cell = result.speeds.fastest_cell;
    return result;
  }
  const StepBound bound =
      collatz_bound(physical, scheme, domain, models, result.speeds.fastest_cell, threads);
  result.step = bound.limit;
  result.cell = bound.cell;
  return result;
}

std::size_t limits_bytes(const ir::Program& physical, const ir::Domain& domain, const loop::Models& models) {
  const Scheme scheme = scheme_of(physical);
  return constant_density(physical, scheme) ? 0 : collatz_bytes(physical, scheme, domain, models);
}

double cfl_limit(int order, const std::vector<double>& spacing, double fastest) {
  const auto weights = passes::second_derivative(order);
  double symbol = -weights[0].value();
  for (std::size_t m = 1; m < weights.size(); ++m) symbol -= 2 * weights[m].value() * (m % 2 == 0 ? 1 : -1);
  double sum = 0;
  for (const double h : spacing) sum += symbol / (h * h);
  return 2.0 / (fastest * std::sqrt(sum));
}

}  // namespace ondula
