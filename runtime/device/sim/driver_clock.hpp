// Which operations surely end before which others begin: vector clocks.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ondula::sim::driver {

/// Operations that follow one another, one after the other: a stream's, or a branch's of its graphs.
using Timeline = std::uint32_t;

/// An operation's place: the index-th of its timeline, from 1.
struct Stamp {
  Timeline timeline = 0;
  std::uint32_t index = 0;
};

/// How much of every timeline has ended before some point.
class Clock {
 public:
  /// Everything before `other` is before this too.
  void join(const Clock& other);
  /// The operation at `stamp`, and all earlier ones of its timeline.
  void add(const Stamp& stamp);
  bool covers(const Stamp& stamp) const {
    return stamp.timeline < ended_.size() && ended_[stamp.timeline] >= stamp.index;
  }

 private:
  std::vector<std::uint32_t> ended_;  ///< by timeline
};

/// Hands out timelines and stamps, and remembers the stamps by operation.
class Timelines {
 public:
  Timeline create();
  /// The next place of `timeline`, given to `operation`, which is the one after the last call's.
  Stamp next(Timeline timeline, std::uint64_t operation);
  /// Whether `operation` ended before. One without a stamp (0, the host; or one from before clocks were kept)
  /// is before everything.
  bool ended(std::uint64_t operation, const Clock& before) const;

 private:
  std::vector<std::uint32_t> last_;  ///< index, by timeline
  std::uint64_t first_ = 0;          ///< the operation of the first stamp
  std::vector<Stamp> stamps_;
};

}  // namespace ondula::sim::driver
