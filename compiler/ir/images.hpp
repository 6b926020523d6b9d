// What stands beyond the faces: the entry, and its sign, that each halo entry repeats.
// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "compiler/ir/domain.hpp"

namespace ondula::ir {

/// Halo entry `to` along one axis equals `sign` times entry `from`; sign 0 makes it zero.
struct Repeat {
  std::int64_t to = 0;
  std::int64_t from = 0;
  int sign = 0;
};

/// The images of `field` along `axis` (numerics.md, Faces), for every halo entry. Beyond a mirroring plus
/// face the first image of a half-cell field is entry total-1, which lies outside the model.
std::vector<Repeat> field_images(const Domain& domain, const Field& field, int axis, bool first_order,
                                 std::int64_t halo);

/// The padded node whose parameters stand at node `i` of `axis`, which may lie beyond the grid: wrapped at
/// periodic faces, mirrored about the node row of free surfaces and antisymmetric faces and about the plane
/// one cell beyond a rigid wall (a node on that plane itself repeats its neighbour), the edge's elsewhere.
std::int64_t parameter_node(const Domain& domain, int axis, std::int64_t i);

/// The same for every halo entry.
std::vector<Repeat> parameter_images(const Domain& domain, int axis, std::int64_t halo);

}  // namespace ondula::ir
