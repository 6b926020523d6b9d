// Receivers as taps: components, pressure, strain rates and fibres.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "compiler/ir/points.hpp"
#include "compiler/ir/program.hpp"
#include "runtime/point_taps.hpp"
#include "runtime/types.hpp"

namespace ondula {

/// What a receiver can record of an equation besides its fields: "pressure" and "fibre", "e.zz", ... where it
/// has a symmetric tensor and a vector.
std::vector<std::string> derived_receivers(const std::vector<ir::Field>& fields,
                                           const std::vector<std::string>& axes);

/// The field whose time a receiver's samples have: itself, or one of those it combines.
const ir::Field& timed_field(const ir::Program& program, const std::string& receiver);

/// Turns receivers into linear combinations of the fields' own points.
class ReceiverTaps {
 public:
  ReceiverTaps(const ir::Program& program, const Grid& grid, PointTaps& points)
      : program_(program), grid_(grid), points_(points) {}
  /// Throws UserError, `what` in front, for a field the equation does not have, a position outside, a fibre
  /// without a direction.
  ir::PointReceiver of(const Receiver& receiver, const std::string& what);

 private:
  const ir::Program& program_;
  const Grid& grid_;
  PointTaps& points_;
};

}  // namespace ondula
