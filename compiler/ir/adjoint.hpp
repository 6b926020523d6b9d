// The adjoint of a Program: its own Program, what the forward run must keep for it, and how gradients follow.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "compiler/ir/program.hpp"

namespace ondula::ir {

/// A forward value that the adjoint step reads: `name`, a field of the adjoint program, holds at level 0 what
/// `field` of the forward program was at the end of the step that is being reversed, at level -1 what it was
/// before.
struct Save {
  std::string field;
  std::string name;
  bool previous = false;  ///< level -1 is read too
};

/// sum of factor * field: how a value follows from fields of the adjoint program. Factors do not vary in
/// time.
struct Combination {
  std::vector<std::pair<Expr, std::string>> terms;
};

/// The adjoint of one forward field, dJ/df over the weights of its nodes (numerics.md, Gradient: H), from the
/// adjoint program's own variables, which may carry a coefficient.
struct AdjointVariable {
  std::string field;  ///< of the forward program
  Combination value;
  Expr previous;  ///< second order: dJ/df(-1) is this times the adjoint one step before
};

/// factor * state * start: with the adjoint's variable `state` as the last step back leaves it and what the
/// forward run's `field` was at its start, both at `level`.
struct StartTerm {
  Expr factor;
  std::string state;
  std::string field;
  int level = 0;
};

/// dJ/dcoefficient = H * value, at the points of the forward fields in `of`; accumulators of the adjoint
/// program stand in `value`.
struct CoefficientGradient {
  Expr coefficient;
  HalfCells stagger{};
  std::vector<std::string> of;
  Combination value;
  /// The accumulator holds what the field gained in each step: what sources injected must be taken off.
  bool injected = false;
  /// What `value` gains more from each shot that starts from other than zeros.
  std::vector<StartTerm> starts;
};

/// What a rebuilt field begins the way back with: the forward run's `field` at `from`.
struct Handover {
  std::string field;
  int from = 0;
  std::string rebuilt;
  int to = 0;
};

/// Everything `differentiate` derives, and `rebuild` on top of it.
struct Adjoint {
  Program forward;                  ///< the physical program with what must be computed to be saved
  Program program;                  ///< one step backwards
  std::vector<Save> saves;          ///< none where the interior is rebuilt
  std::vector<Handover> handovers;  ///< of rebuilt fields; empty where steps are kept instead
  std::vector<Ring> rings;          ///< of the forward fields that keep one
  std::vector<AdjointVariable> variables;
  std::vector<CoefficientGradient> gradients;
  std::vector<Expr> divisors;  ///< must be other than 0 on every node, or gradients have no meaning
  std::string no_mirror;       ///< why mirroring faces are refused, in words; empty where they are not
  std::vector<std::string> decisions;  ///< in words, for `explain`
};

/// The programs' listings, the save set, the decisions.
std::string dump(const Adjoint& adjoint);

}  // namespace ondula::ir
