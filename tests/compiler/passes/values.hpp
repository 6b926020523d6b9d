// Evaluating expressions at one point in made-up surroundings: two texts of one meaning must give one number.
// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <map>
#include <string>

#include "compiler/ir/program.hpp"

namespace ondula::test {

/// A number between 1 and 2 that depends on a name and a position only.
double made_up(const std::string& name, const ir::HalfCells& position, int level = 0);

/// What the leaves of an expression are worth. Positions are in half cells from the point of the update (in
/// cells once lowered).
struct Surroundings {
  std::function<double(const ir::Node&)> field = [](const ir::Node& e) {
    return made_up(e.name, e.offset, e.level);
  };
  std::function<double(const std::string&, const ir::HalfCells&)> parameter =
      [](const std::string& name, const ir::HalfCells& at) { return made_up(name, at); };
  std::map<std::string, double> symbols = {{"dt", 0.125}, {"h_z", 2}, {"h_y", 4}, {"h_x", 8}};
  std::map<std::string, double> lets;
  const ir::Program* program = nullptr;  ///< where coefficients and scalars are defined
};

/// The value of `e` in double; add, sub, mul, div, neg and fma are each rounded once, as printed text is.
double value(ir::Expr e, const Surroundings& around);

}  // namespace ondula::test
