// Sources and receivers of linearised modelling: the shot's own, and how they follow the models.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/ir/tangent.hpp"
#include "runtime/loop/sensitivity.hpp"
#include "runtime/shot_points.hpp"

namespace ondula {

/// The derivative of C_nt/C_nn at the ratio's node along `perturbation`; 0 where the ratio is 0 whatever the
/// model.
double ratio_tangent(const ir::Program& program, const loop::Sensitivity& sensitivity, const RatioTaps& ratio,
                     const loop::Perturbation& perturbation);

/// What the tangent's step is fed with and read by. `points` are the shot's, with slopes. The sources feed
/// the background; sources of its derivative what `perturbation` does to their strengths and weights.
/// Receivers give the derivative of what the shot's would record: the weights on the fields' derivatives, and
/// the weights' derivatives on the fields.
ShotPoints born_points(const ir::Program& forward, const ir::Tangent& tangent,
                       const loop::Sensitivity& sensitivity, const ShotPoints& points,
                       const loop::Perturbation& perturbation);

}  // namespace ondula
