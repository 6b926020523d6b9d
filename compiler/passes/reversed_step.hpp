// reversed_step: one step backwards in time as a Program of its own, of the forward step's fields.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/ir/program.hpp"

namespace ondula::passes {

/// Undoes a step of `physical`, a program as `absorb` or `surface` leave it, in the interior, where the
/// fields become what the step found: first-order fields in place, a second-order field's level 1 is u(n -
/// 1), from level 0 = u(n) and level -1 = u(n + 1). Its injections take back what the step's gave. Beside
/// absorbing faces fields are undone from their insets on, and the entries between a Ring's depths are what
/// was kept before the step: of a second-order field its level -1. Nothing beyond is right. Throws UserError
/// with `reverse`'s reason where a step cannot be undone.
ir::Program reversed_step(const ir::Program& physical);

}  // namespace ondula::passes
