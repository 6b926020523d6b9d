// The energy that the leapfrog of a wave equation conserves to rounding.
// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tests/equations/engines.hpp"

namespace ondula::test {

using Fields = std::map<std::string, std::vector<double>>;

/// <v-, rho v+>/2 + <s, s/C>/2 for the elastic equation between mirroring faces: v- the velocities half a
/// step before the stresses s of `before`, v+ those half a step after, as `after`, one step later, has them.
/// On a row of a free or a rigid face a node counts half. Where layers are, their cells count as well, with
/// the edge values of the models. In units of the cell's volume.
double elastic_energy(const EngineCase& c, const Fields& before, const Fields& after);

/// The same for the variable-density equation between free faces: <(u+ - u)/dt, (u+ - u)/(dt rho vp^2)>/2 +
/// <grad u+, grad u/rho>/2, `now` and `next` one step apart. Layers' cells count with the values they have.
double density_energy(const EngineCase& c, const std::vector<double>& now, const std::vector<double>& next);

}  // namespace ondula::test
