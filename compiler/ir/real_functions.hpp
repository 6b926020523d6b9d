// The functions that expressions may name, on doubles, with their slopes.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <string>

namespace ondula::ir {

/// One function of one or two arguments; with one, y is ignored.
struct RealFunction {
  const char* name;
  std::size_t arguments;
  double (*value)(double x, double y);
  /// d/dx and d/dy; at a kink the slope of the side that `value` returned, 0 where that is open (abs at 0) or
  /// where it is infinite (sqrt at 0).
  std::array<double (*)(double x, double y), 2> slopes;
};

/// By name: sqrt, exp, log, sin, cos, tan, tanh, abs, pow, min, max, less and less_equal (1 or 0, with slope
/// 0), and inverse_or_zero(x) = 1/x, 0 at 0 with slope 0. Throws InternalError for another name or number of
/// arguments. where(c, a, b), a where c is not 0 and b where it is, has three and is not among them.
const RealFunction& real_function(const std::string& name, std::size_t arguments);

}  // namespace ondula::ir
