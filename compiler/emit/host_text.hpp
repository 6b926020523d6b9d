// host_text: Kernels as freestanding C++ for the host, one program per direction.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "compiler/emit/manifest.hpp"
#include "compiler/ir/kernel.hpp"

namespace ondula::emit {

/// The C++ text of all kernels of `set`: header-free, x innermost, the equation and the meaning of every
/// coefficient and scalar in comments above. Each kernel is extern "C"
///   void NAME(real* const* arrays, const index* n, const real* scalars, const index* tile)
/// with arguments as manifest.hpp lays them out. Grid sizes, dt and everything else of the run are arguments.
/// With `parts` each of several kernels stands in an #if of its own, for compilers that run at once with
/// ONDULA_PART defined as its number.
std::string host_text(const ir::KernelSet& set, Real real, bool parts = true);

/// In how many parts the text may be compiled.
int host_parts(const ir::KernelSet& set);

}  // namespace ondula::emit
