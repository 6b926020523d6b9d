// What an equation demands of its models, cell by cell.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/ir/program.hpp"
#include "runtime/loop/model.hpp"

namespace ondula {

/// Throws UserError, with the first cell and what the parameters are there, where a requirement that the
/// author states does not hold, and where a function has no value: the square root of less than 0, the
/// logarithm of 0 or less, a power of such. Branches that where() does not take count for nothing.
void require_models(const ir::Program& physical, const loop::Models& models,
                    const std::vector<std::int64_t>& shape);

}  // namespace ondula
