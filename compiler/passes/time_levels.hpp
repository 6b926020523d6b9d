// Which first-order fields live at one time, and which couple there without a derivative.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "compiler/ir/equation.hpp"

namespace ondula::passes {

/// How the first-order fields of an equation leapfrog (numerics.md, Time).
struct TimeLevels {
  /// 0: updated first in a step; 1: with the new values of those. Fields that a derivative connects differ.
  /// Empty where no such division exists: second-order fields, or derivatives in an odd ring.
  std::map<std::string, int> level;
  /// (f, g): dt(f) holds g outside any derivative, and both have one level: f takes g's mean over the step.
  std::set<std::pair<std::string, std::string>> means;
  /// Evolutions by number, in the order of their updates. One statement's are given their sources and images
  /// together; those that take means of each other are one statement.
  std::vector<std::vector<std::size_t>> statements;
};

/// Of an equation after `check`. Throws UserError where fields of one level feed each other in a ring.
TimeLevels time_levels(const ir::Equation& equation);

}  // namespace ondula::passes
