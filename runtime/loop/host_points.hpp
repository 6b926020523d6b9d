// Sources and receivers as the host's engine has them.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <vector>

#include "runtime/device/device.hpp"

namespace ondula::loop {

/// One deposit of a source: where, with which weights, fed by which samples.
struct Deposit {
  int operation = 0;
  std::vector<device::Weighted> to;
  std::vector<double> samples;
};

/// A receiver's taps on one field, and which sample they add to.
struct Pickup {
  std::size_t sample = 0;
  std::vector<device::Weighted> from;
};

}  // namespace ondula::loop
