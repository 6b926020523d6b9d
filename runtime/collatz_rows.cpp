// Taps and coefficients of absolute operators.
// SPDX-License-Identifier: MIT
#include "runtime/collatz_rows.hpp"

#include <algorithm>
#include <cmath>

#include "compiler/error.hpp"
#include "compiler/ir/evaluate.hpp"
#include "compiler/passes/stencil.hpp"

namespace ondula {
namespace {

using ir::HalfCells;

int floor_half(int half_cells) { return half_cells >= 0 ? half_cells / 2 : -((1 - half_cells) / 2); }

/// Everything one point of a field contributes to a row: coefficient and weight, to be added up.
using Contributions = std::vector<std::pair<PlacedProduct, double>>;

class Unroller {
 public:
  Unroller(const ir::Program& program, const ir::Field& target, const ir::Domain& domain)
      : program_(program), target_(target), domain_(domain) {}

  void add(const Term& term, std::size_t field) { descend(term, field, 0, {}, term.scale, {}); }

  std::map<std::pair<std::size_t, std::array<int, ir::max_axes>>, Contributions> taps;

 private:
  void descend(const Term& term, std::size_t field, std::size_t depth, HalfCells shift, double weight,
               PlacedProduct product) {
    for (const TermFactor& factor : term.factors) {
      if (factor.depth != depth) continue;
      HalfCells at = target_.stagger;
      for (std::size_t a = 0; a < at.size(); ++a) at[a] += shift[a];
      product.push_back({factor.nodal, at});
    }
    if (depth == term.slopes.size()) {
      land(term, field, shift, weight, std::move(product));
      return;
    }
    const Slope& slope = term.slopes[depth];
    const auto axis = static_cast<std::size_t>(slope.axis);
    const double h = domain_.spacing[axis];
    const auto step = [&](double w, int half_cells) {
      HalfCells there = shift;
      there[axis] += half_cells;
      descend(term, field, depth + 1, there, weight * w / (slope.order == 2 ? h * h : h), product);
    };
    if (slope.order == 2) {
      const auto weights = passes::second_derivative(program_.order);
      step(weights[0].value(), 0);
      for (std::size_t m = 1; m < weights.size(); ++m) {
        step(weights[m].value(), 2 * static_cast<int>(m));
        step(weights[m].value(), -2 * static_cast<int>(m));
      }
      return;
    }
    const auto weights =
        slope.staggered ? passes::staggered(program_.order) : passes::first_derivative(program_.order);
    for (std::size_t m = 0; m < weights.size(); ++m) {
      const int half_cells = slope.staggered ? 2 * static_cast<int>(m) + 1 : 2 * static_cast<int>(m) + 2;
      step(weights[m].value(), half_cells);
      step(-weights[m].value(), -half_cells);
    }
  }

  void land(const Term& term, std::size_t field, const HalfCells& shift, double weight,
            PlacedProduct product) {
    const HalfCells& there = program_.field(term.field).stagger;
    std::array<int, ir::max_axes> offset{};
    for (std::size_t a = 0; a < offset.size(); ++a) {
      offset[a] = floor_half(target_.stagger[a] + shift[a] - there[a]);
    }
    Contributions& all = taps[{field, offset}];
    const auto same = std::find_if(all.begin(), all.end(), [&](const auto& c) { return c.first == product; });
    if (same == all.end())
      all.emplace_back(std::move(product), weight);
    else
      same->second += weight;
  }

  const ir::Program& program_;
  const ir::Field& target_;
  const ir::Domain& domain_;
};

/// True if both are the same sum up to a factor.
bool proportional(const Contributions& unit, const Contributions& c) {
  if (unit.size() != c.size()) return false;
  for (std::size_t i = 0; i < c.size(); ++i) {
    if (!(unit[i].first == c[i].first)) return false;
    if (std::fabs(c[i].second / c[0].second - unit[i].second) > 1e-12 * std::fabs(unit[i].second))
      return false;
  }
  return true;
}

}  // namespace

std::vector<TapGroup> absolute_row(const ir::Program& program, const FieldTerms& terms,
                                   const std::vector<FieldTerms>& read, const ir::Domain& domain) {
  Unroller unroller(program, program.field(terms.field), domain);
  for (const Term& term : terms.terms) {
    const auto field =
        std::find_if(read.begin(), read.end(), [&](const FieldTerms& f) { return f.field == term.field; });
    unroller.add(term, static_cast<std::size_t>(field - read.begin()));
  }
  std::vector<TapGroup> groups;
  for (const auto& [place, contributions] : unroller.taps) {
    const double first = contributions[0].second;
    if (first == 0) continue;
    const AbsoluteTap tap{place.first, place.second, std::fabs(first)};
    const auto group = std::find_if(groups.begin(), groups.end(), [&c = contributions](const TapGroup& g) {
      return proportional(g.coefficient, c);
    });
    if (group != groups.end()) {
      group->taps.push_back(tap);
      continue;
    }
    Contributions unit = contributions;
    for (auto& c : unit) c.second /= first;
    groups.push_back({std::move(unit), {tap}});
  }
  return groups;
}

CoefficientRows::CoefficientRows(const ir::Domain& domain, const loop::Models& models, int reach)
    : domain_(domain), model_(domain, models, reach), reach_(reach), count_(domain.total(domain.dims - 1)) {}

const std::vector<double>& CoefficientRows::nodal(ir::Expr e, const ir::Extents& index) {
  for (const Nodal& n : known_) {
    if (n.expression == e && n.index == index) return n.values;
  }
  Nodal fresh{e, index, {}};
  std::map<std::string, std::vector<double>> rows;
  const auto parameter = [&](const std::string& name) {
    auto& row = rows[name];
    if (row.empty()) model_.row(name, index, row);
    return static_cast<const double*>(row.data());
  };
  ir::nodal_values(e, {}, parameter, static_cast<std::size_t>(model_.row_size()), fresh.values);
  known_.push_back(std::move(fresh));
  return known_.back().values;
}

/// Harmonic means as everywhere else: 2^k / sum 1/c over the nodes around (numerics.md, Space).
void CoefficientRows::placed(const PlacedFactor& factor, const ir::Extents& index, std::vector<double>& out) {
  const auto inner = static_cast<std::size_t>(domain_.dims - 1);
  double corners = 1;
  for (const int half : factor.at) corners *= half % 2 != 0 ? 2 : 1;
  out.assign(static_cast<std::size_t>(count_), 0.0);
  for (unsigned corner = 0; corner < 8; ++corner) {
    ir::Extents node = index;
    bool exists = true;
    for (std::size_t a = 0; a < node.size(); ++a) {
      const bool up = ((corner >> a) & 1U) != 0;
      exists = exists && (!up || factor.at[a] % 2 != 0);
      node[a] += floor_half(factor.at[a]) + (up ? 1 : 0);
    }
    if (!exists) continue;
    const auto along = static_cast<std::size_t>(node[inner] + reach_);
    node[inner] = 0;
    const double* values = nodal(factor.nodal, node).data() + along;
    for (std::size_t i = 0; i < out.size(); ++i) out[i] += corners > 1 ? 1.0 / values[i] : values[i];
  }
  if (corners > 1) {
    for (double& value : out) value = corners / value;
  }
}

void CoefficientRows::row(const TapGroup& group, const ir::Extents& index, std::vector<float>& out) {
  ir::Extents first = index;
  first[static_cast<std::size_t>(domain_.dims - 1)] = 0;
  if (first != at_) {
    known_.clear();
    at_ = first;
  }
  std::vector<double> sum(static_cast<std::size_t>(count_), 0.0), product, factor_values;
  for (const auto& [factors, ratio] : group.coefficient) {
    product.assign(sum.size(), ratio);
    for (const PlacedFactor& factor : factors) {
      placed(factor, first, factor_values);
      for (std::size_t i = 0; i < product.size(); ++i) product[i] *= factor_values[i];
    }
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += product[i];
  }
  out.resize(sum.size());
  for (std::size_t i = 0; i < sum.size(); ++i) out[i] = static_cast<float>(std::fabs(sum[i]));
}

}  // namespace ondula
