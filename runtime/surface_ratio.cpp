// Ratios of stiffnesses at surfaces, as numbers and as expressions.
// SPDX-License-Identifier: MIT
#include "runtime/surface_ratio.hpp"

#include <algorithm>

#include "compiler/error.hpp"
#include "compiler/passes/surface.hpp"
#include "runtime/loop/factor.hpp"
#include "runtime/point_taps.hpp"

namespace ondula {
namespace {

std::size_t ix(int i) { return static_cast<std::size_t>(i); }

constexpr std::size_t known_ratios = 4096;

/// Of the normal stress along `normal`, the terms in dv_a/da.
std::vector<Term> terms_of(const ir::Program& program, const Scheme& scheme, int normal, int axis) {
  const std::string& stress = component_of(program, ir::FieldKind::tensor, {normal, normal}).name;
  std::vector<Term> found;
  for (const auto& stage : scheme.stages) {
    for (const FieldTerms& terms : stage) {
      if (terms.field != stress) continue;
      for (const Term& term : terms.terms) {
        const ir::Field& read = program.field(term.field);
        if (read.kind != ir::FieldKind::vector || term.slopes.size() != 1) continue;
        if (read.component[0] == axis && term.slopes[0].axis == axis) found.push_back(term);
      }
    }
  }
  return found;
}

ir::Expr sum_of(ir::Pool& pool, const std::vector<Term>& terms) {
  std::vector<ir::Expr> sum;
  for (const Term& term : terms) {
    std::vector<ir::Expr> product = {pool.constant(term.scale)};
    for (const TermFactor& factor : term.factors) product.push_back(passes::medium(pool, factor.nodal));
    sum.push_back(pool.product(std::move(product)));
  }
  return pool.sum(std::move(sum));
}

}  // namespace

const ir::Field& component_of(const ir::Program& program, ir::FieldKind kind, std::vector<int> axes) {
  std::sort(axes.begin(), axes.end());
  const ir::Field* group = first_of(program.fields, kind);
  for (const ir::Field& field : program.fields) {
    std::vector<int> own = field.component;
    std::sort(own.begin(), own.end());
    if (group != nullptr && field.group == group->group && field.kind == kind && own == axes) return field;
  }
  throw InternalError("no such component");
}

SurfaceRatio::SurfaceRatio(const ir::Program& program, const ir::Domain& domain, const loop::Models& models)
    : domain_(domain), model_(domain, models, 1), known_(known_ratios) {
  const Scheme scheme = scheme_of(program);
  for (int n = 0; n < domain.dims; ++n) {
    for (int t = 0; t < domain.dims; ++t) terms_[ix(n)][ix(t)] = terms_of(program, scheme, n, t);
  }
}

ir::Extents SurfaceRatio::inside(ir::Extents node) const {
  for (int a = 0; a < domain_.dims; ++a)
    node[ix(a)] = std::clamp<std::int64_t>(node[ix(a)], 0, domain_.total(a) - 1);
  return node;
}

double SurfaceRatio::at(int normal, int tangential, const ir::Extents& inside) {
  std::int64_t key = normal * ir::max_axes + tangential;
  for (int a = 0; a < domain_.dims; ++a) key = key * domain_.total(a) + inside[ix(a)];
  Known& known = known_[static_cast<std::size_t>(key) % known_.size()];
  if (known.key != key) {
    const double of_normal = gain(normal, normal, inside);
    known = {key, of_normal != 0 ? gain(normal, tangential, inside) / of_normal : 0.0};
  }
  return known.ratio;
}

double SurfaceRatio::gain(int normal, int axis, const ir::Extents& inside) const {
  double sum = 0;
  for (const Term& term : terms_[ix(normal)][ix(axis)]) {
    double value = term.scale;
    for (const TermFactor& factor : term.factors)
      value *= loop::source_factor(factor.nodal, {}, model_, inside);
    sum += value;
  }
  return sum;
}

std::pair<ir::Expr, ir::Expr> ratio_expressions(const ir::Program& program, int normal, int tangential) {
  const Scheme scheme = scheme_of(program);
  return {sum_of(*program.pool, terms_of(program, scheme, normal, tangential)),
          sum_of(*program.pool, terms_of(program, scheme, normal, normal))};
}

}  // namespace ondula
