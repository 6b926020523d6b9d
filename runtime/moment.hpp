// Moment tensors by their usual names.
// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "compiler/export.hpp"

namespace ondula {

/// The unit tensor over so many axes, row by row: an isotropic source.
ONDULA_API std::vector<double> explosion(std::size_t axes);

/// A shear dislocation of unit moment on a plane of the given strike, dip and rake, in degrees (Aki &
/// Richards 2002, box 4.4), over the axes z, y, x: x points north, y east, z down. Strike is measured from
/// north to east, the plane dips to the right of it, and rake is the slip of the hanging wall's side against
/// strike, positive upwards. Row by row: zz, zy, zx, yz, ...
ONDULA_API std::vector<double> double_couple(double strike, double dip, double rake);

/// The same in the plane of the axes z, x: a plane that dips `dip` degrees below the direction of growing x,
/// its hanging wall moving up dip (a thrust). It is the double couple of strike -90, rake 90 degrees, without
/// y.
ONDULA_API std::vector<double> double_couple_2d(double dip);

}  // namespace ondula
