// The equations Ondula ships, each stated once for 1-D, 2-D and 3-D.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "compiler/dsl/definition.hpp"
#include "compiler/export.hpp"

namespace ondula::equations {

/// Constant-density acoustics; parameter vp; field u.
ONDULA_API EquationDefinition acoustic();
/// Variable-density acoustics.
ONDULA_API EquationDefinition acoustic_density();
/// Isotropic elastics, velocity and stress.
ONDULA_API EquationDefinition elastic();

/// All of them, in the order `ondula list` shows.
ONDULA_API std::vector<EquationDefinition> all();
/// By name; throws UserError with the nearest known name.
ONDULA_API EquationDefinition find(const std::string& name);

}  // namespace ondula::equations
