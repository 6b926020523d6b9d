// reverse: a step of the interior run backwards in time.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "compiler/ir/adjoint.hpp"
#include "compiler/ir/program.hpp"

namespace ondula::passes {

/// What undoes one step away from the layers. A rebuilt field "u.rebuilt" of first order holds u as the step
/// left it, and at level 1 as the step found it. Of second order it runs through the forward run's levels the
/// other way: when step n is reversed it holds u(n) at level 0, u(n + 1) at level -1, and u(n - 1) at level 1
/// is computed.
struct Reversal {
  /// Updates that need nothing of each other's results, then what sources gave taken back (they are named
  /// "u.forward").
  struct Stage {
    std::vector<ir::Update> updates;
    std::vector<ir::Injection> injections;
  };
  std::vector<ir::Field> fields;
  std::vector<Stage> stages;            ///< in the order that undoes
  std::vector<ir::Handover> handovers;  ///< what the rebuilt fields are when the way back begins
};

/// From a program as `absorb` or `surface` leave it: a second-order field's step is its own reverse, u(n-1) =
/// 2u(n) - u(n+1) + forces; a first-order field loses again what it gained, the fields in the opposite order.
/// Throws UserError with the reason where a step cannot be undone: a field that keeps less than all of
/// itself, as attenuation has it, would grow.
Reversal reverse(const ir::Program& physical);

/// Names of what `reverse` makes of a field and of a source.
std::string rebuilt_name(const std::string& field);
std::string forward_source(const std::string& source);

}  // namespace ondula::passes
