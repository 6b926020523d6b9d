// schedule: how a sweep is cut into tiles for the host's caches and threads.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/ir/domain.hpp"
#include "compiler/ir/kernel.hpp"

namespace ondula::passes {

/// What the tiling aims at.
struct HostTarget {
  int threads = 1;
  std::int64_t cache_bytes = 1 << 20;  ///< what one thread may fill
  std::int64_t beyond = 0;             ///< cells outside the padded grid that some piece covers as well
};

/// Tiles (lo, hi along each outer axis, then rows per block) that cover every piece of `kernel`: blocks of
/// rows such that the planes a stencil spans stay in cache, cut along the slowest axis so that every thread
/// gets several, and nowhere inside what a piece that runs ahead writes. One tile without ranges in 1-D.
/// Tiles never cut rows, and their shape cannot change a result.
std::vector<std::vector<std::int64_t>> host_tiles(const ir::Kernel& kernel, const ir::Domain& domain,
                                                  std::int64_t row_bytes, const HostTarget& target);

}  // namespace ondula::passes
