// The names and units of an equation, for callers.
// SPDX-License-Identifier: MIT
#include <algorithm>

#include "compiler/ir/equation.hpp"
#include "runtime/propagator.hpp"
#include "runtime/receivers.hpp"

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
  for (const ir::Field& f : stated.fields) {
    if (std::find(stated.sources.begin(), stated.sources.end(), f.name) == stated.sources.end()) continue;
    auto* group = f.kind == ir::FieldKind::vector   ? &result.forces
                  : f.kind == ir::FieldKind::tensor ? &result.moments
                                                    : nullptr;
    if (group != nullptr && (group->empty() || group->back() != f.group)) group->push_back(f.group);
  }
  result.derived = derived_receivers(stated.fields, axes);
  for (const std::string& name : result.derived) {
    const auto tensor = std::find_if(stated.fields.begin(), stated.fields.end(),
                                     [](const ir::Field& f) { return f.kind == ir::FieldKind::tensor; });
    result.units[name] = name == "pressure" ? tensor->unit : "1/s";
  }
  return result;
}

}  // namespace ondula
