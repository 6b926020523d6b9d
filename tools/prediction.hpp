// How long a job will take, from short measurements on this machine.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "tools/session.hpp"

namespace ondula::tools {

/// A predicted time and what it rests on. A figure that could not be measured is 0.
struct Prediction {
  double copy_bytes_per_s = 0;     ///< of p[i] = 2u[i] - p[i] + c[i]: three reads and one write in place
  double kernel_points_per_s = 0;  ///< of the job's own kernels on a grid that fits in cache, layers included
  double points_seconds = 0;       ///< of sampling receivers and feeding sources, set-up included
  double seconds = 0;   ///< of all steps of all shots: the slower of the two limits, and the points
  std::string problem;  ///< why there is no prediction
};

/// Measures for about a second, in tens of megabytes. The small grid has the job's dimensions, order, type
/// and share of layers; its kernels are compiled if they are not in the cache.
Prediction predict(const Session& session);

}  // namespace ondula::tools
