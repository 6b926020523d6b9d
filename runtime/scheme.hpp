// The spatial operator of a time step, taken apart into terms: what speeds and stability limits follow from.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "compiler/ir/program.hpp"

namespace ondula {

/// One derivative of a term.
struct Slope {
  int axis = 0;
  int order = 1;
  bool staggered = false;
  friend bool operator==(const Slope&, const Slope&) = default;
};

/// A coefficient of a term: a nodal expression, or its harmonic mean, standing inside `depth` of the term's
/// derivatives.
struct TermFactor {
  ir::Expr nodal;
  std::size_t depth = 0;
};

/// scale * factors * (derivatives, outermost first) of a field.
struct Term {
  double scale = 1;
  std::vector<TermFactor> factors;
  std::vector<Slope> slopes;
  std::string field;
};

/// What the right side of one field consists of, without the time step.
struct FieldTerms {
  std::string field;
  std::vector<Term> terms;
};

/// What must hold at every point of a model for a step to lose energy, never gain it: a symmetric matrix of
/// coefficients, one number most often, has no negative eigenvalue.
struct Condition {
  std::string what;   ///< what the matrix is, in words
  std::string field;  ///< at whose points it is taken
  std::size_t size = 1;
  std::vector<ir::Expr> entries;  ///< row by row
  bool strict = false;            ///< it must be positive
  std::vector<ir::Expr> beside;   ///< whose differences the entries are: of what rounding is a share
};

/// A step of one of two forms, with d its length. One stage: u' = 2u - u` + d^2 A u. Two stages: first
/// f += d A g for every field f of the first, then g += d B f, with the new f, for every field g of the
/// second: leapfrog, which obeys f'' - 2f' + f = d^2 A B f' and is stable where the one stage with the
/// operator A B is. Terms without derivatives that a step takes half at either side (damping, and memory
/// that follows its drive) are left out, and so are the fields that nothing of the other stage reads: they
/// do not lower the limit while the conditions hold (numerics.md, Damping and memory).
struct Scheme {
  std::vector<std::vector<FieldTerms>> stages;
  std::vector<Condition> conditions;
  bool second_order() const { return stages.size() == 1; }
};

/// Takes apart what the author of `program` stated; layers and surface rows are left out. Throws UserError
/// naming the field for an equation of any other form, whose limit nobody would know.
Scheme scheme_of(const ir::Program& program);

}  // namespace ondula
