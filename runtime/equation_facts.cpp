// The names and units of an equation, for callers.
// SPDX-License-Identifier: MIT
#include "compiler/ir/equation.hpp"
#include "runtime/propagator.hpp"

namespace ondula {

EquationFacts facts(const EquationDefinition& equation, const std::vector<std::string>& axes) {
  const ir::Equation stated = equation.instantiate(axes);
  EquationFacts result;
  for (const ir::Parameter& p : stated.parameters) {
    result.parameters.push_back(p.name);
    result.units[p.name] = p.unit;
  }
  for (const ir::Field& f : stated.fields) {
    result.fields.push_back(f.name);
    result.units[f.name] = f.unit;
    result.initial.push_back(f.name);
    if (f.time_order == 2) result.initial.push_back(f.name + ".previous");
  }
  result.sources = stated.sources;
  return result;
}

}  // namespace ondula
