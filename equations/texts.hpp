// The built-in equations as their authors wrote them.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

namespace ondula::equations {

/// The files of this folder, embedded at build time; one of them may state several equations, or none.
const std::vector<std::string>& texts();

}  // namespace ondula::equations
