// The numbers that the example of a set of standalone sources must find.
// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "compiler/emit/standalone_case.hpp"
#include "compiler/passes/pipeline.hpp"
#include "runtime/types.hpp"

namespace ondula {

/// What the reference finds in the example's run, (look, probe): whole arrays, operation by operation, in
/// double precision, by none of the code that standalone sources have.
std::vector<double> standalone_values(const passes::Compilation& compilation,
                                      const emit::StandaloneCase& example);

/// What the compiled kernels of a run on the host find, in their own type.
std::vector<double> standalone_run_values(const passes::Compilation& compilation,
                                          const emit::StandaloneCase& example, DType dtype);

/// The gradient of each parameter that the adjoint finds on the reference; `example` has its values already.
std::vector<emit::StandaloneModelGradient> standalone_gradient(const passes::AdjointCompilation& compilation,
                                                               const emit::StandaloneCase& example);

}  // namespace ondula
