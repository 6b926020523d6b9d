// The equations Ondula ships, each stated once for 1-D, 2-D and 3-D.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "compiler/dsl/dsl.hpp"

namespace ondula::equations {

EquationDefinition acoustic();
EquationDefinition acoustic_density();
EquationDefinition elastic();

/// All of them, in the order `ondula list` shows.
std::vector<EquationDefinition> all();
/// By name; throws UserError with the nearest known name.
EquationDefinition find(const std::string& name);

}  // namespace ondula::equations
