// Loading a job's models onto the grid: units, floors, shapes, and what their values may be.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "runtime/io/array.hpp"
#include "runtime/io/job.hpp"

namespace ondula::io {

/// What a parameter's values may be.
enum class ValueDomain { any, positive, nonnegative };

/// The units a model may be stored in: m/s, km/s, ft/s, s/m, s/km, s^2/m^2, s^2/km^2, kg/m^3, g/cm^3, Pa,
/// MPa, GPa, m, 1. (Squared) slowness becomes velocity.
const std::vector<std::string>& known_units();

/// Reads a model (`where`: "models.vp") onto the grid, in the parameter's own `unit` ("m/s"; empty if it has
/// none). A number stays one value, of the empty shape (). Stored units are converted, floor and ceiling
/// applied; how many cells they changed, and values that look like other units or another byte order, are
/// warned of. Throws UserError for a file that cannot be read, a rank or shape that is not the grid's (both
/// are printed; swapped axes are suggested), a unit of another quantity, and a slowness that is not positive.
Array load_model(const std::string& where, const ModelSpec& spec, const Grid& grid, const std::string& unit,
                 std::vector<std::string>& warnings);

/// Reads a perturbation of a parameter (`where`: "born.vp") onto the grid as load_model does, and fills the
/// grid with a number. Throws UserError as it does, and for a unit of slowness, which a change does not
/// convert by, and a value that is not finite.
Array load_perturbation(const std::string& where, const ModelSpec& spec, const Grid& grid,
                        const std::string& unit, std::vector<std::string>& warnings);

/// Throws UserError, naming `where`, the first offending value, its cell on each axis, what is allowed and
/// how many there are, if a value is NaN, infinite or outside the domain; guesses at the cause where it can.
void check_model(const std::string& where, const Array& array, const Grid& grid, const std::string& unit,
                 ValueDomain domain);

}  // namespace ondula::io
