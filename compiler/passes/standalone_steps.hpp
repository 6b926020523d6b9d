// standalone_steps: every step that standalone sources have, with the same coefficients and scalars in all.
// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>

#include "compiler/passes/pipeline.hpp"

namespace ondula::passes {

/// The step, the step back, and those of a gradient. The later ones begin with the forward step's scalars and
/// coefficients and read these where they serve.
struct StandaloneCompilation {
  ReversibleCompilation plain;
  /// Its directions are "keeping" and "adjoint". Adjoints of models that may vanish are kept unscaled, so
  /// that the sources serve in every medium.
  std::optional<AdjointCompilation> gradient;
  std::string no_gradient;  ///< why there is none, in words
};

StandaloneCompilation compile_standalone(const EquationDefinition& definition,
                                         const PipelineOptions& options);

}  // namespace ondula::passes
