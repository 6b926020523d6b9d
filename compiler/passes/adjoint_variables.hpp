// Which variables the adjoint step evolves: adjoints as they are, with the coefficient of their use taken in,
// or beside materialised products.
// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <string>
#include <vector>

#include "compiler/ir/adjoint.hpp"
#include "compiler/passes/uses.hpp"

namespace ondula::passes {

/// sum over targets of coefficient * adjoint(target): what a forward value's adjoint gains at its own point.
/// Coefficients of one target are listed apart, ordered by id.
using Cotangent = std::map<std::string, std::vector<ir::Expr>>;

/// By names and ids: the same in every process.
struct CotangentOrder {
  bool operator()(const Cotangent& a, const Cotangent& b) const;
};

/// How the adjoint of a field is kept (numerics.md, Gradient).
enum class Kept {
  plain,   ///< as it is
  scaled,  ///< times `scale`, the one coefficient it is used with
  law      ///< a normal stress's: lambda * sum of all + twice_mu * own, of an isotropic law
};

/// One field of the adjoint program that evolves: sign * (what Kept says), named as its forward field.
struct AdjointState {
  std::string field;
  Kept kept = Kept::plain;
  int sign = 1;
  ir::Expr scale;                  ///< scaled
  ir::Expr lambda, twice_mu;       ///< law
  std::vector<std::string> group;  ///< law: all members, in the program's order
};

/// A cotangent as a field of the adjoint program: sign * field.
struct Represented {
  std::string field;
  int sign = 1;
  bool product = false;  ///< a materialised product, updated where it is first needed
};

/// The choice for every field of a program.
struct AdjointVariables {
  std::map<std::string, AdjointState> states;  ///< by forward field, memory variables too
  std::map<Cotangent, Represented, CotangentOrder> cotangents;
  std::vector<std::string> decisions;
};

/// The inverse of an isotropic law of n components (numerics.md, Gradient): an adjoint is its variable times
/// `deviator`, plus the sum of all members' variables times `trace`; `bulk` divides a trace alone. Values on
/// surfaces follow how many components live there; where a divisor is 0, so is the value.
struct LawInverse {
  ir::Expr deviator;  ///< 1/(2 mu)
  ir::Expr trace;     ///< (1/(k lambda + 2 mu) - 1/(2 mu))/k for k components
  ir::Expr bulk;      ///< 1/(k lambda + 2 mu)
  ir::Expr divisor;   ///< n lambda + 2 mu of the medium itself: must not be 0
};
LawInverse inverse_of(ir::Pool& pool, const AdjointState& law);

/// The adjoint of a forward field from its variables.
ir::Combination recovered(ir::Pool& pool, const AdjointVariables& variables, const std::string& field);

/// Scaled where the coefficient is proven to vanish nowhere or without effect, products elsewhere;
/// `unscaled`: only where it vanishes nowhere, so that every adjoint can be had back from its variable at any
/// model.
AdjointVariables choose_variables(const ir::Program& physical, const std::vector<Use>& uses, bool unscaled);

/// Adds coefficient * adjoint(target) to the first of `list` that does not hold that very term.
void add_to(std::vector<Cotangent>& list, const std::string& target, ir::Expr coefficient);

}  // namespace ondula::passes
