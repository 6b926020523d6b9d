// How a gradient finds the steps of its forward run again.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>

namespace ondula {

/// What a run keeps of its steps, so that a gradient can be had.
enum class Storage {
  full,      ///< what the gradient needs of every step
  boundary,  ///< a ring beside the absorbing layers; the interior is rebuilt backwards in time
  none       ///< nothing: a gradient is refused
};

/// Where kept bytes lie. On the host's own backends device memory is the host's.
enum class Tier { device, host, disk };

/// Bytes on each tier. What belongs to the host's own backends counts as the device's.
struct TierBytes {
  std::size_t device = 0, host = 0, disk = 0;
};

/// States of the forward run from which stretches of it are run again, so that only one stretch at a time is
/// kept.
struct Checkpoints {
  enum class Kind {
    none,
    segments,  ///< stretches of equal length, `count` of them
    revolve    ///< the fewest steps run again that `count` states allow (Griewank & Walther 2000)
  };
  Kind kind = Kind::none;
  int count = 0;
};

/// The levers of memory, which compose.
struct StoragePlan {
  Storage keep = Storage::full;  ///< of each step of a stretch
  Checkpoints checkpoints;
  Tier steps = Tier::device;   ///< of what is kept of steps
  Tier states = Tier::device;  ///< of checkpoints
  std::string scratch;         ///< folder for Tier::disk; empty: the system's for temporary files
};

}  // namespace ondula
