// `ondula explain --backend cuda`: CUDA kernels, what they take, and the roofs over them.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/dsl/dsl.hpp"
#include "compiler/emit/manifest.hpp"
#include "tools/options.hpp"

namespace ondula::tools {

/// Prints the text, what each kernel moves and computes per point, what the cubin says of it where NVRTC is
/// here, and the roofline on a named GPU. Throws UserError for an unknown architecture or GPU.
void explain_cuda(const EquationDefinition& definition, const EquationOptions& options, emit::Real real);

}  // namespace ondula::tools
