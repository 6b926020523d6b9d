// rebuild: a step back that finds the forward fields again instead of reading what was kept of every step.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/ir/adjoint.hpp"

namespace ondula::passes {

/// From an adjoint whose saves are fields alone (differentiate with `fields_only`): rebuilt fields take the
/// saved ones' place, their reversed step runs beside the adjoint's so that the two share sweeps. Sums are
/// right in the interior and on the half cells just outside it, which the interior's nodes share in; in the
/// layers, where nothing is rebuilt, they mean nothing (extent `interior` reads none of it). The
/// forward program keeps rings. A first-order field that sums read both as a step left and as it found it
/// alternates between two arrays. Throws UserError with the reason where the step cannot be reversed.
ir::Adjoint rebuild(const ir::Program& physical, ir::Adjoint adjoint);

}  // namespace ondula::passes
