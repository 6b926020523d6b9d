// The numbers that the example of a set of standalone sources must find.
// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "compiler/emit/standalone_case.hpp"
#include "compiler/passes/pipeline.hpp"

namespace ondula {

/// What the reference finds in the example's run, (look, probe): whole arrays, operation by operation, in
/// double precision, by none of the code that standalone sources have.
std::vector<double> standalone_values(const passes::Compilation& compilation,
                                      const emit::StandaloneCase& example);

}  // namespace ondula
