// What bounds a model on one face.
// SPDX-License-Identifier: MIT
#pragma once

namespace ondula {

/// What bounds the model on one face (numerics.md, Faces). `rigid` is what an absorbing layer of width 0
/// means; `antisymmetric` (node fields odd, half-cell fields even about the outermost node row) exists for
/// tests.
enum class FaceKind { absorbing, free_surface, rigid, periodic, antisymmetric };

}  // namespace ondula
