// Evaluating scalars and nodal coefficients.
// SPDX-License-Identifier: MIT
#include "compiler/ir/evaluate.hpp"

#include <algorithm>
#include <cmath>

#include "compiler/error.hpp"
#include "compiler/ir/real_functions.hpp"

namespace ondula::ir {
namespace {

void apply(const Node& function, const std::vector<std::vector<double>>& args, std::vector<double>& out) {
  out.resize(args[0].size());
  if (function.name == "where") {
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = args[0][i] != 0 ? args[1][i] : args[2][i];
    return;
  }
  const RealFunction& known = real_function(function.name, function.args.size());
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = known.value(args[0][i], args[1][i]);
}

}  // namespace

double scalar_value(Expr e, const Symbols& symbols) {
  std::vector<double> out;
  nodal_values(
      e, symbols,
      [&](const std::string& name) -> const double* {
        throw InternalError("scalar depends on parameter " + name);
      },
      1, out);
  return out[0];
}

void nodal_values(Expr e, const Symbols& symbols, const ParameterRow& parameter, std::size_t count,
                  std::vector<double>& out, const SurfaceRow& surfaces) {
  const auto combine = [&](double start, const auto& operation) {
    out.assign(count, start);
    std::vector<double> term;
    for (const Expr arg : e->args) {
      nodal_values(arg, symbols, parameter, count, term, surfaces);
      for (std::size_t i = 0; i < count; ++i) out[i] = operation(out[i], term[i]);
    }
  };
  switch (e->kind) {
    case Kind::constant:
      out.assign(count, e->number.value());
      return;
    case Kind::symbol: {
      const auto found = symbols.find(e->name);
      if (found == symbols.end()) throw InternalError("no value for " + e->name);
      out.assign(count, found->second);
      return;
    }
    case Kind::parameter: {
      const double* values = parameter(e->name);
      out.assign(values, values + count);
      return;
    }
    case Kind::sum:
      combine(0.0, [](double a, double b) { return a + b; });
      return;
    case Kind::product:
      combine(1.0, [](double a, double b) { return a * b; });
      return;
    case Kind::quotient: {
      std::vector<double> below;
      nodal_values(e->args[0], symbols, parameter, count, out, surfaces);
      nodal_values(e->args[1], symbols, parameter, count, below, surfaces);
      for (std::size_t i = 0; i < count; ++i) out[i] /= below[i];
      return;
    }
    case Kind::surface: {
      nodal_values(e->args[0], symbols, parameter, count, out, surfaces);
      if (!surfaces) return;
      std::vector<int> which(count);
      for (std::size_t i = 0; i < count; ++i) {
        which[i] = std::min(surfaces(i), static_cast<int>(e->args.size()) - 1);
      }
      std::vector<double> values;
      for (int k = 1; k < static_cast<int>(e->args.size()); ++k) {
        if (std::find(which.begin(), which.end(), k) == which.end()) continue;
        nodal_values(e->args[static_cast<std::size_t>(k)], symbols, parameter, count, values, surfaces);
        for (std::size_t i = 0; i < count; ++i) out[i] = which[i] == k ? values[i] : out[i];
      }
      return;
    }
    case Kind::function: {
      std::vector<std::vector<double>> args(std::max<std::size_t>(e->args.size(), 2),
                                            std::vector<double>(count, 0.0));
      for (std::size_t j = 0; j < e->args.size(); ++j)
        nodal_values(e->args[j], symbols, parameter, count, args[j], surfaces);
      apply(*e, args, out);
      return;
    }
    default:
      throw InternalError("cannot evaluate " + text(e));
  }
}

}  // namespace ondula::ir
