// `ondula list`: the equations, and what each supports.
// SPDX-License-Identifier: MIT
#pragma once

#include "tools/options.hpp"

namespace ondula::tools {

struct ListOptions {
  Voice voice;
};

/// Prints every built-in equation: parameters, fields and where they live, sources, and where it runs.
void list_equations(const ListOptions& options);

}  // namespace ondula::tools
