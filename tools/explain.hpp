// `ondula explain`: an equation after every pass, its kernels' text, and the work in them.
// SPDX-License-Identifier: MIT
#pragma once

#include "tools/options.hpp"

namespace ondula::tools {

/// Prints the listings, or the text alone where `options.text`.
void explain_equation(const EquationOptions& options);

}  // namespace ondula::tools
