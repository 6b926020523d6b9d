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
std::string host_text(const ir::KernelSet& set, Real real);

}  // namespace ondula::emit
