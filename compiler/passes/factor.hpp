// factor: sums and products become explicit binary operations in a fixed order.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/ir/expr.hpp"

namespace ondula::passes {

/// Symmetric taps are paired, w*a + w*b -> w*(a + b) and w*a - w*b -> w*(a - b); sums become balanced trees
/// in the order of their terms, whole(...) being one term; a product next to a sum becomes fma. The result
/// uses functions add, sub, mul, div, fma, neg over leaves (constants, symbols, lets, accesses): emitters
/// print it as it is, so every device rounds alike.
ir::Expr factor(ir::Pool& pool, ir::Expr e);

}  // namespace ondula::passes
