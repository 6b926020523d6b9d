// What is known of a coefficient's zeros from the signs its author gave the parameters.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/ir/program.hpp"

namespace ondula::passes {

/// `positive`: never 0. `flat`: where it is 0, so are its derivatives with respect to every parameter (a
/// parameter that may be 0 enters by its square). `unknown`: nothing is proven.
enum class Zeros { positive, flat, unknown };

/// Expands sums and products into monomials; terms that cancel are gone.
Zeros zeros(const ir::Program& program, ir::Expr coefficient);

}  // namespace ondula::passes
