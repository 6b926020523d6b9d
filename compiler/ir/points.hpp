// Sources and receivers as the time loop sees them: taps on the padded grid.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "compiler/ir/domain.hpp"

namespace ondula::ir {

/// One grid point and its weight, in padded indices of the field's own grid.
struct Tap {
  Extents index{};
  double weight = 0;
};

/// A source term fed at step n with `samples[n]` (0 past the end): each tap gains factor * weight * sample,
/// where factor is the Injection's; weights already hold 1/V. With `raw`, taps gain weight * sample.
struct PointSource {
  std::string source;  ///< the field whose source term it feeds, as in Injection::source
  std::vector<Tap> taps;
  std::vector<double> samples;
  bool raw = false;
};

/// A receiver: the sum of weight * field(tap).
struct PointReceiver {
  std::string field;
  std::vector<Tap> taps;
};

}  // namespace ondula::ir
