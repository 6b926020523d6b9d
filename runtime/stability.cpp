// The CFL limit of second-order scalar equations.
// SPDX-License-Identifier: MIT
#include "runtime/stability.hpp"

#include <fmt/format.h>

#include <cmath>
#include <set>

#include "compiler/error.hpp"
#include "compiler/ir/evaluate.hpp"
#include "compiler/passes/stencil.hpp"

namespace ondula {
namespace {

using ir::Expr;
using ir::Kind;

/// K of u' = 2u - u` + dt^2 K (sum of second derivatives of u along every axis); null for any other form.
Expr wave_modulus(const ir::Program& program) {
  const ir::Update* main = nullptr;
  for (const ir::Operation& operation : program.operations) {
    const auto* update = std::get_if<ir::Update>(&operation);
    if (update == nullptr || program.field(update->field).strip_axis >= 0 || update->accumulate) continue;
    if (main != nullptr) return {};
    main = update;
  }
  if (main == nullptr || program.field(main->field).time_order != 2 || main->value->kind != Kind::sum)
    return {};
  if (main->value->args.size() != 3) return {};
  const Expr spatial = main->value->args[2];
  if (spatial->kind != Kind::product) return {};
  std::vector<Expr> modulus;
  int steps = 0;
  bool laplacian = false;
  for (const Expr factor : spatial->args) {
    if (factor->kind == Kind::symbol && factor->name == "dt") {
      ++steps;
    } else if (!ir::time_dependent(factor)) {
      modulus.push_back(factor);
    } else {
      const std::vector<Expr> terms = factor->kind == Kind::sum ? factor->args : std::vector<Expr>{factor};
      laplacian = terms.size() == program.axes.size();
      std::set<int> axes;
      for (const Expr term : terms) axes.insert(term->axis);
      laplacian = laplacian && axes.size() == terms.size();
      for (const Expr term : terms) {
        laplacian = laplacian && term->kind == Kind::derivative && term->order == 2 &&
                    term->args[0]->kind == Kind::field && term->args[0]->name == main->field;
      }
    }
  }
  return steps == 2 && laplacian ? program.pool->product(std::move(modulus)) : Expr{};
}

}  // namespace

Speeds speeds(const ir::Program& physical, const loop::Models& models,
              const std::vector<std::int64_t>& shape) {
  const Expr modulus = wave_modulus(physical);
  if (!modulus) {
    throw UserError(
        fmt::format("equation {}: this version knows the stability limit of equations of the form "
                    "dtt(u) = K laplacian(u) only; runs of others come later",
                    physical.equation));
  }
  std::int64_t nodes = 1;
  for (const std::int64_t n : shape) nodes *= n;
  bool constant = true;
  for (const auto& [name, array] : models) constant = constant && array.is_constant();
  if (constant) nodes = 1;
  constexpr std::int64_t row = 4096;
  std::map<std::string, std::vector<double>> rows;
  std::vector<double> values;
  double largest = 0, smallest = 0;
  std::int64_t where = 0;
  for (std::int64_t begin = 0; begin < nodes; begin += row) {
    const std::int64_t count = std::min(row, nodes - begin);
    const auto parameter = [&](const std::string& name) {
      auto& r = rows[name];
      const loop::ModelArray& array = models.at(name);
      r.resize(static_cast<std::size_t>(count));
      for (std::int64_t i = 0; i < count; ++i) r[static_cast<std::size_t>(i)] = array[begin + i];
      return static_cast<const double*>(r.data());
    };
    ir::nodal_values(modulus, {}, parameter, static_cast<std::size_t>(count), values);
    for (std::int64_t i = 0; i < count; ++i) {
      const double value = values[static_cast<std::size_t>(i)];
      if (begin + i == 0) largest = smallest = value;
      if (value > largest) {
        largest = value;
        where = begin + i;
      }
      smallest = std::min(smallest, value);
    }
  }
  if (!(smallest > 0) || !std::isfinite(largest)) {
    throw UserError(
        fmt::format("equation {}: dtt(u) = K laplacian(u) needs K positive and finite; it runs from {} to {}",
                    physical.equation, smallest, largest));
  }
  Speeds result{std::sqrt(largest), std::sqrt(smallest), std::vector<std::int64_t>(shape.size())};
  for (std::size_t a = shape.size(); a-- > 0;) {
    result.fastest_cell[a] = where % shape[a];
    where /= shape[a];
  }
  return result;
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
