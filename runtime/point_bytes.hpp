// Host bytes that the sources and receivers of shots take, before any is made.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "runtime/receivers.hpp"
#include "runtime/shot_points.hpp"
#include "runtime/sources.hpp"

namespace ondula {

/// Of one shot.
struct PointBytes {
  std::size_t made = 0;   ///< before they are handed to the engine, which takes them over one by one
  std::size_t bound = 0;  ///< while the shot runs
  ShotCounts counts;
};

/// Counts what points take: each kind of point at each kind of place is made once, as a run makes it. What is
/// referred to must outlive this.
class PointCounter {
 public:
  PointCounter(const ir::Program& program, const ir::Domain& domain, const Grid& grid,
               const loop::Models& models, const Sampling& sampling);
  /// Throws as shot_points does, but for the wavelets; `number` is the shot's.
  PointBytes of(const Shot& shot, std::int64_t number);

 private:
  /// One source or receiver.
  struct Kind {
    std::vector<std::size_t> taps;  ///< of each part
    ShotCounts counts;
  };
  const Kind& kind_of(const Source& source, const std::string& what);
  const Kind& kind_of(const Receiver& receiver, const std::string& what);

  const Grid& grid_;
  Sampling sampling_;
  int order_;
  PointTaps points_;
  SourceTaps sources_;
  ReceiverTaps receivers_;
  std::map<std::string, Kind> kinds_;  // by what they depend on
};

}  // namespace ondula
