// Whether damping and memory lose energy in a model.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/ir/domain.hpp"
#include "compiler/ir/program.hpp"
#include "runtime/loop/model.hpp"
#include "runtime/scheme.hpp"

namespace ondula {

/// Looks at every point of `domain` (0 threads: all processors). Throws UserError naming the condition that
/// fails, its value and the cell where it is worst.
void require_conditions(const ir::Program& program, const Scheme& scheme, const ir::Domain& domain,
                        const loop::Models& models, int threads);

}  // namespace ondula
