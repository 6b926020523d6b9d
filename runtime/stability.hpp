// The CFL limit and the speeds of a run, from the actual stencils and the actual models.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "compiler/ir/domain.hpp"
#include "compiler/ir/program.hpp"
#include "runtime/loop/model.hpp"
#include "runtime/speeds.hpp"

namespace ondula {

/// Speeds, the largest stable step, and the cell that sets it.
struct Limits {
  Speeds speeds;
  double step = 0;  ///< s
  std::vector<std::int64_t> cell;
};

/// Of `physical` on these models (numerics.md, CFL limit): for dtt(u) = K laplacian(u) the theorem, for any
/// other equation its Collatz bound. Throws UserError for an equation whose limit is not known, and for
/// models in which no wave speed is real and positive.
Limits limits(const ir::Program& physical, const ir::Domain& domain, const loop::Models& models, int threads);

/// Host bytes that `limits` holds while it runs: 0 where a theorem serves.
std::size_t limits_bytes(const ir::Program& physical, const ir::Domain& domain, const loop::Models& models);

/// Largest stable step of the leapfrog of u_tt = K laplacian(u) with second derivatives of `order`:
///   2 / (c_max sqrt(sum_a S_a / h_a^2)), S_a = -(a_0 + 2 sum a_m cos(m pi))   (numerics.md, CFL limit: a
///   theorem).
double cfl_limit(int order, const std::vector<double>& spacing, double fastest);

}  // namespace ondula
