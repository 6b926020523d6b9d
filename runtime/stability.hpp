// The CFL limit and the speeds of a run, from the actual stencils and the actual models.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/ir/program.hpp"
#include "runtime/loop/model.hpp"

namespace ondula {

/// Fastest and slowest speed, and where (model indices).
struct Speeds {
  double fastest = 0;  ///< m/s
  double slowest = 0;  ///< m/s
  std::vector<std::int64_t> fastest_cell;
};

/// Speeds of u_tt = K laplacian(u): sqrt of the extreme values of K over the nodes. Throws UserError for an
/// equation of another form: its limit is not known to this version.
Speeds speeds(const ir::Program& physical, const loop::Models& models,
              const std::vector<std::int64_t>& shape);

/// Largest stable step of the leapfrog with second derivatives of `order`:
///   2 / (c_max sqrt(sum_a S_a / h_a^2)), S_a = -(a_0 + 2 sum a_m cos(m pi))   (numerics.md, CFL limit: a
///   theorem).
double cfl_limit(int order, const std::vector<double>& spacing, double fastest);

}  // namespace ondula
