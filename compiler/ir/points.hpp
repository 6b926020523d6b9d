// Sources and receivers as the time loop sees them: taps on the padded grid.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <utility>
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
  double shift = 0;  ///< steps by which the samples lie after the steps' own times
  int origin = -1;   ///< which source of the shot it is a part of; -1 where none was told
};

/// The sum of weight * field(tap).
struct FieldTaps {
  std::string field;
  std::vector<Tap> taps;
};

/// A receiver: the sum over its parts, which may read several fields.
struct PointReceiver {
  PointReceiver() = default;
  explicit PointReceiver(std::vector<FieldTaps> all) : parts(std::move(all)) {}
  /// Of one field.
  PointReceiver(std::string field, std::vector<Tap> taps) {
    parts.push_back({std::move(field), std::move(taps)});
  }
  std::vector<FieldTaps> parts;
};

}  // namespace ondula::ir
