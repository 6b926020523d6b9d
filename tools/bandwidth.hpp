// A short measurement of how fast this machine moves memory the way a time step does.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

#include "runtime/types.hpp"

namespace ondula::tools {

/// Bytes per second of p[i] = 2u[i] - p[i] + c[i] over arrays of `count` elements (at most 8 Mi are used):
/// three reads and one write in place, on `threads` threads (0: all). Takes about 0.2 s.
double step_bandwidth(std::size_t count, DType dtype, int threads);

}  // namespace ondula::tools
