// The largest stable step of any scheme on its own model: a Collatz bound on the operator of absolute values.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "compiler/ir/domain.hpp"
#include "compiler/ir/program.hpp"
#include "runtime/loop/model.hpp"
#include "runtime/scheme.hpp"

namespace ondula {

/// A stable step and the cell that sets it (model indices).
struct StepBound {
  double limit = 0;  ///< s
  std::vector<std::int64_t> cell;
};

/// 2/sqrt(b), b the least over at most 30 iterations x <- |A| x of max_i (|A| x)_i / x_i (Collatz 1942), with
/// |A| the scheme's operator in absolute weights and coefficients (numerics.md, CFL limit): every iterate
/// bounds the spectral radius of A, on this model, padding and faces included. It stops early where a medium
/// all like `fastest_cell` would have the same limit within 0.3 %, which no iteration can improve on by more,
/// or where iterations no longer gain. Axes along which no model varies count as one point. Throws UserError
/// where a coefficient is not finite.
StepBound collatz_bound(const ir::Program& physical, const Scheme& scheme, const ir::Domain& domain,
                        const loop::Models& models, const std::vector<std::int64_t>& fastest_cell,
                        int threads);

/// Bytes that collatz_bound holds while it runs: two floats per point and field of the first stage,
/// coefficients up to 128 MiB, and some planes of the second stage. Small beside a run's own arrays, and gone
/// before them.
std::size_t collatz_bytes(const ir::Program& physical, const Scheme& scheme, const ir::Domain& domain,
                          const loop::Models& models);

}  // namespace ondula
