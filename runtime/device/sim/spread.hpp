// Moves the loop over a block's threads along x into a kernel's own loops, where the compiler makes vectors
// of it. SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "runtime/device/sim/scan.hpp"

namespace ondula::sim {

/// The kernel's body, braces left out, so that it runs ondula_count threads of a row at once: what is the
/// same for all of them (bounds, loops over planes) once, the rest in ONDULA_SIM_LANES loops
/// (templates/sim_prelude.cpp.in), in which thread-private arrays have an element per lane. Threads of a
/// launch without barriers may be interleaved in any way, so this is one of the orders a GPU may choose.
/// Empty where the body is not of the kind that is understood: const declarations, loops whose bounds are the
/// same for all threads of a row, no `return` but at its head. Lines stay where they are.
std::string spread(const std::string& text, const ScannedKernel& kernel);

}  // namespace ondula::sim
