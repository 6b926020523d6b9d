// Where a kernel's pieces act in one padded domain.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <vector>

#include "compiler/ir/domain.hpp"
#include "compiler/ir/kernel.hpp"
#include "runtime/loop/layout.hpp"

namespace ondula::loop {

/// Boxes of pieces, in padded indices; `element_bytes` is the working type's, for strips grown to whole
/// vectors.
class Boxes {
 public:
  Boxes(const ir::KernelSet& set, const ir::Domain& domain, std::size_t element_bytes);

  /// The piece's region on one side (0 minus, 1 plus; 0 for live ones), within the smallest box that holds
  /// the live points of all its stores.
  ir::Box piece(const ir::Piece& piece, int side) const;
  /// Of a base piece: rows beyond strips and aprons on which all its stores live, and the span that the fused
  /// strips of the innermost axis leave. No rows where those cannot grow, so that no row takes the fused
  /// variant.
  ir::Box core(const ir::Piece& base) const;
  /// Of a mixed piece: where all its stores live, then where each one lives. Throws InternalError where a row
  /// would have to keep more than one entry at an end.
  std::vector<ir::Box> lives(const ir::Piece& piece) const;

 private:
  const ir::Field& field(const ir::Store& store) const { return set_.program.field(store.field); }
  WideStrips wide(const ir::Piece& piece) const;
  ir::Range strip(const ir::Piece& piece, int axis, int side) const;

  const ir::KernelSet& set_;
  const ir::Domain& domain_;
  std::size_t element_bytes_;
  bool joint_;
};

}  // namespace ondula::loop
