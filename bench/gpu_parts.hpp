// The parts of the check of a GPU; each prints lines of JSON.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "bench/baseline_cases.hpp"
#include "bench/gpu_case.hpp"

namespace ondula::bench {

/// One line: the device, driver and NVRTC.
void tell_device(const GpuCase& gpu);

/// A line per equation, dimension, order and type, forward and gradient: the largest difference from the
/// reference over its largest value, and the bound of numerics.md. `quick`: order 4 and fewer steps. True
/// where all that ran are within it; what there was no time for says so in its line.
bool compare_with_reference(const GpuCase& gpu, bool quick);

/// One line: what a copy of the driver's and a kernel of three reads and one in-place write move, GB/s.
void measure_copy(const GpuCase& gpu, bool quick);

/// Which of the baseline's rows, and how.
struct RowOptions {
  std::string only;  ///< of this label; empty: all
  std::vector<std::string> workloads{"forward", "full"};
  Scale scale{1, 1, 1, 1};
  int repeats = 3;
  std::int64_t steps = 0;  ///< instead of the case's, 0: those
};

/// A line per row: seconds, Gpoints/s, memory, the bytes its kernels move by their manifest, what they use by
/// their cubins. A row that fails says why in its line; true where none failed but for memory.
bool run_rows(const GpuCase& gpu, const RowOptions& options);

}  // namespace ondula::bench
