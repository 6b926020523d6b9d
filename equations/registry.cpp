// Finding built-in equations by name.
// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include "compiler/error.hpp"
#include "equations/equations.hpp"

namespace ondula::equations {

std::vector<EquationDefinition> all() { return {acoustic(), acoustic_density(), elastic()}; }

EquationDefinition find(const std::string& name) {
  std::vector<std::string> known;
  for (const EquationDefinition& definition : all()) {
    if (definition.name() == name) return definition;
    known.push_back(definition.name());
  }
  throw UserError(fmt::format("equation \"{}\" is not known; there are: {}", name, fmt::join(known, ", ")));
}

}  // namespace ondula::equations
