// What stands before the kernels of a host text.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "compiler/emit/manifest.hpp"
#include "compiler/ir/kernel.hpp"

namespace ondula::emit {

/// The program's coefficients and scalars as a comment, and the prelude for the working type; with mixed
/// pieces (see live_text.hpp) also what these call.
std::string host_header(const ir::KernelSet& set, Real real);

}  // namespace ondula::emit
