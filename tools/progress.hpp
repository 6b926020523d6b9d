// How far a run is: a bar on a terminal, a line now and then elsewhere.
// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "runtime/propagator.hpp"

namespace ondula::tools {

/// Writes to stderr. On a terminal one line is redrawn up to ten times a second; elsewhere there is a line
/// after ten seconds at the earliest, so that short runs and log files stay short.
class ProgressLine {
 public:
  /// `points`: updated in one step, for the rate. `quiet`: nothing is written.
  ProgressLine(std::int64_t points, bool quiet);
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void show(const Progress& progress);
  /// Leaves out of the rate what else the run spent time on, snapshots say.
  void leave_out(std::chrono::steady_clock::duration time) { left_out_ += time; }
  /// Removes the bar, so that other lines can follow.
  void clear();

 private:
  using Clock = std::chrono::steady_clock;

  static double share(const Progress& progress);
  std::string text(const Progress& progress, double seconds, double stepping) const;

  std::int64_t points_;
  bool quiet_;
  bool terminal_;
  bool drawn_ = false;
  std::optional<Progress> first_;
  Clock::duration left_out_{};
  Clock::time_point begin_ = Clock::now();
  Clock::time_point last_ = begin_;
};

}  // namespace ondula::tools
