// What known GPUs can do, for rooflines: figures of their makers.
// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <string>

namespace ondula {

/// One GPU by its data sheet.
struct Gpu {
  const char* name;
  int capability;  ///< 10 * major + minor
  int multiprocessors;
  double clock_ghz;    ///< boost
  double memory_gb_s;  ///< DRAM, peak
  double l2_mb;
  double l2_gb_s;         ///< reads from L2; 0 where nobody states it
  double float32_tflops;  ///< a fused multiply-add counts 2
  double float64_tflops;
  const char* source;
};

/// All of them, the older first.
std::span<const Gpu> known_gpus();

/// By name, in any case of letters ("h200", "rtx 4090"). Throws UserError listing the known ones.
const Gpu& find_gpu(const std::string& name);

/// The one that stands for a compute capability: of its major version, with the nearest minor; nullptr where
/// there is none.
const Gpu* gpu_of(int capability);

/// The upper limits on one kernel's speed, in 1e9 points/s; 0: not known.
struct Roofs {
  double memory = 0;
  double l2 = 0;
  double l1 = 0;
  double arithmetic = 0;
  /// The least of those known.
  double least() const;
};

/// Work and traffic per point.
struct PointCost {
  double flops = 0;
  double memory_bytes = 0;
  double l2_bytes = 0;
  double l1_wavefronts = 0;  ///< per warp of 32 points
};

/// The part of the DRAM's peak that a plain copy reaches.
inline constexpr double memory_share = 0.9;

/// The roofs of a kernel on `gpu`: memory at `memory_share` of its peak, L1 at one wavefront per clock and
/// multiprocessor.
Roofs roofs_of(const Gpu& gpu, const PointCost& cost, bool float64);

}  // namespace ondula
