// Time-independent expressions as flat lists of steps, each of which reads earlier ones.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "compiler/ir/domain.hpp"
#include "compiler/ir/evaluate.hpp"
#include "compiler/ir/real_functions.hpp"

namespace ondula::loop {

/// What a step computes from its arguments. `mean` is the harmonic one, n/sum(1/e_i). `parallel` is
/// 1/sum(c_i/e_i), its arguments c_0, e_0, c_1, e_1 ... with c_i free of parameters: on its own, 1/e would be
/// infinite where e = 0, and the derivative lost. `select` takes the argument for as many free surfaces as
/// meet in the node; `choose` is its second argument where the first is not 0, else its third.
enum class TapeOp { constant, parameter, add, multiply, divide, mean, parallel, select, choose, function };

struct TapeStep {
  TapeOp op = TapeOp::constant;
  std::vector<std::size_t> args;
  double number = 0;                           ///< constant
  std::size_t parameter = 0;                   ///< parameter: which of Tape::parameters
  ir::Extents shift{};                         ///< parameter, select: nodes from the entry evaluated
  const ir::RealFunction* function = nullptr;  ///< function
  bool uniform = false;                        ///< the same everywhere
};

struct Tape {
  std::vector<TapeStep> steps;
  std::size_t value = 0;  ///< the step that is the expression's value
  std::vector<std::string> parameters;
  ir::Extents below{}, above{};  ///< how many nodes before and after an entry are read, along each axis
};

/// Which entry of Kind::surface is meant: the one for as many free surfaces as meet in the node, or args[0].
enum class Surfaces { counted, ignored };

/// Throws InternalError for a symbol without a value and for whatever varies in time.
Tape make_tape(ir::Expr e, const ir::Symbols& symbols, Surfaces surfaces);

}  // namespace ondula::loop
