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

/// A step of one of two forms, with d its length. One stage: u' = 2u - u` + d^2 A u. Two stages: first
/// f += d A g for every field f of the first, then g += d B f, with the new f, for every field g of the
/// second: leapfrog, which obeys f'' - 2f' + f = d^2 A B f' and is stable where the one stage with the
/// operator A B is.
struct Scheme {
  std::vector<std::vector<FieldTerms>> stages;
  bool second_order() const { return stages.size() == 1; }
};

/// Takes the plain updates of `program` (as after absorb) apart; layers and surface rows are left out. Throws
/// UserError naming the field for a step of any other form, whose limit nobody would know.
Scheme scheme_of(const ir::Program& program);

}  // namespace ondula
