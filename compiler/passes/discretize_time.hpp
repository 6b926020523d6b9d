// discretize_time: evolution equations become updates of one time step.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/ir/program.hpp"

namespace ondula::passes {

/// dtt(u) = r  ->  u' = 2u - u` + dt^2 r;   dt(f) = r  ->  f' = f + dt r, in the order written, each with the
/// latest values of the others (leapfrog); a pointwise term A f is solved semi-implicitly (Crank-Nicolson):
/// (1 - dt A/2) f' = (1 + dt A/2) f + dt (r - A f). Source terms become injections after the updates of their
/// statement. numerics.md, Time. Throws UserError where a source stands under a derivative.
ir::Program discretize_time(const ir::Equation& checked, int order);

}  // namespace ondula::passes
