// The sums over time that the gradients of coefficients are made of.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "compiler/ir/adjoint.hpp"
#include "compiler/passes/adjoint_variables.hpp"

namespace ondula::passes {

/// One product of an adjoint and a forward value.
struct Pairing {
  std::vector<std::string> adjoints;  ///< of these forward fields, as they are kept, added up
  ir::Expr nested;    ///< instead: the cotangent of this derivative, whose operand holds the coefficient
  ir::Expr forward;   ///< a derivative or a field
  int axis = -1;      ///< on the strips of this axis alone
  ir::Expr profiles;  ///< and times these; null: 1
  /// The forward value is this memory variable, driven by `forward`. By transposition in time the sum of its
  /// products with an adjoint equals that of `forward` with the adjoint passed through the memory's own
  /// recursion, m' <- a m' + b adjoint: no memory variable is kept.
  std::string memory;
  /// The forward value is an expression of memories that cannot be had that way.
  bool opaque = false;
};

/// How a term's forward values are had when the step is reversed.
enum class Supply {
  gained,      ///< what the field gained in the step, from its saved values before and after
  saved,       ///< the forward run keeps the very sum
  recomputed,  ///< from saved fields
};

/// One accumulator of the adjoint program: the sum over time of its pairings.
struct GradientTerm {
  std::vector<Pairing> pairs;
  std::vector<std::string> of;  ///< the forward fields whose updates hold the coefficient
  ir::Expr coefficient;
  ir::HalfCells stagger{};
  int flux_axis = -1;               ///< nested: the axis along which the points lie between the fields' own
  std::vector<Supply> open;         ///< supplies it may take
  Supply supply = Supply::saved;    ///< the one it takes
  std::vector<std::string> fields;  ///< forward fields that recomputing needs
};

/// Terms for every coefficient with a parameter in it. A law's two come as `coefficient` lambda and 2 mu.
std::vector<GradientTerm> gradient_terms(const ir::Program& physical, const std::vector<Use>& uses,
                                         const AdjointVariables& variables);

}  // namespace ondula::passes
