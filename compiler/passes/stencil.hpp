// Taylor weights of the centred and staggered derivatives, as exact rationals.
// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "compiler/ir/number.hpp"

namespace ondula::passes {

inline constexpr int max_order = 16;

/// Throws UserError with the supported orders unless `order` is one of 2, 4, ..., 16.
void require_order(int order);

/// a_0 .. a_M, M = order/2: h^2 f'' = a_0 f(0) + sum a_m (f(m) + f(-m)) (verification.md; Fornberg 1988).
std::vector<ir::Number> second_derivative(int order);

/// c_1 .. c_M at indices 0 .. M-1: h f' = sum c_m (f(m) - f(-m)).
std::vector<ir::Number> first_derivative(int order);

/// c_1 .. c_M at indices 0 .. M-1: h f' = sum c_m (f(m - 1/2) - f(-m + 1/2)).
std::vector<ir::Number> staggered(int order);

}  // namespace ondula::passes
