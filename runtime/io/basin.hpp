// The synthetic sedimentary basin: a model of our own for demonstrations and tests, in 2-D and 3-D.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/io/array.hpp"

namespace ondula::io {

/// What basin to make. Two extents make a section (z, x), three a volume (z, y, x).
struct BasinOptions {
  std::vector<std::int64_t> shape{150, 400};  ///< nodes per axis, 2 or more each
  std::vector<double> spacing{20.0, 20.0};    ///< m, > 0
  double water_depth = 0.0;                   ///< m of water at the deepest place of the sea floor; 0 is land
  std::uint32_t seed = 1;                     ///< another seed, other layers
};

/// A basin's parameters, all in the shape asked for: vp and vs in m/s, rho in kg/m^3.
struct Basin {
  std::vector<std::string> axes;
  std::vector<double> spacing;
  Array vp;
  Array vs;
  Array rho;
};

/// The default volume: 96^3 nodes, 20 m.
BasinOptions default_basin_volume();

/// Makes the basin. The geology is placed in shares of the model's extents, so that any shape shows all of
/// it:
///  - sediments in about twenty layers of sand, shale and carbonate over basement, folded into a sag on the
///  left and an
///    anticline on the right, both dying out upwards; velocity grows with burial (compaction), faster in
///    sand, slower in shale;
///  - a normal fault, dipping 60 degrees to the right, with a throw of 7 % of the depth that dies out
///  upwards;
///  - a salt body in the anticline's core, wider at the top: vp 4500, vs 2600, rho 2150;
///  - a soft layer under the surface, of uneven thickness: vp 1100 to 1500, vs 0.35 vp; under water vp 1550
///  to 1700;
///  - with water: vp 1500, vs 0, rho 1025, over an uneven floor.
/// vs follows the mudrock line vs = 0.862 vp - 1172 m/s (Castagna, Batzle and Eastwood 1985) in sand and
/// shale, vp / 1.9 in carbonate (Pickett 1963), vp / 1.75 in basement; rho follows 310 vp^(1/4) (Gardner,
/// Gardner and Gregory 1974).
///
/// The same options give the same bits everywhere: only additions, products, quotients and square roots,
/// which IEEE 754 defines to the last bit, integer hashes for what looks random, and values rounded to 0.1.
/// Throws UserError for a rank other than 2 or 3, an extent below 2, a spacing or water depth out of range.
Basin make_basin(const BasinOptions& options);

}  // namespace ondula::io
