// Joins and compares vector clocks.
// SPDX-License-Identifier: MIT
#include "runtime/device/sim/driver_clock.hpp"

#include <algorithm>

namespace ondula::sim::driver {

void Clock::join(const Clock& other) {
  if (ended_.size() < other.ended_.size()) ended_.resize(other.ended_.size());
  for (std::size_t i = 0; i < other.ended_.size(); ++i) ended_[i] = std::max(ended_[i], other.ended_[i]);
}

void Clock::add(const Stamp& stamp) {
  if (ended_.size() <= stamp.timeline) ended_.resize(stamp.timeline + 1);
  ended_[stamp.timeline] = std::max(ended_[stamp.timeline], stamp.index);
}

Timeline Timelines::create() {
  last_.push_back(0);
  return static_cast<Timeline>(last_.size() - 1);
}

Stamp Timelines::next(Timeline timeline, std::uint64_t operation) {
  if (stamps_.empty()) first_ = operation;
  const Stamp stamp{timeline, ++last_[timeline]};
  stamps_.push_back(stamp);
  return stamp;
}

bool Timelines::ended(std::uint64_t operation, const Clock& before) const {
  if (operation < first_ || operation - first_ >= stamps_.size()) return true;
  return before.covers(stamps_[operation - first_]);
}

}  // namespace ondula::sim::driver
