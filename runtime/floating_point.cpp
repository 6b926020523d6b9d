// Saving, replacing and restoring the floating-point state.
// SPDX-License-Identifier: MIT
#include "runtime/floating_point.hpp"

#include <xmmintrin.h>

namespace ondula {

DefaultFloatingPoint::DefaultFloatingPoint() noexcept {
  std::fegetenv(&caller_);
  std::fesetenv(FE_DFL_ENV);
  // The C library's default need not include the flushing of denormals, which is no part of standard C.
  constexpr unsigned as_at_start = 0x1f80;
  _mm_setcsr(as_at_start);
}

DefaultFloatingPoint::~DefaultFloatingPoint() { std::fesetenv(&caller_); }

GivenFloatingPoint::GivenFloatingPoint(const std::fenv_t& state) noexcept {
  std::fegetenv(&own_);
  std::fesetenv(&state);
}

GivenFloatingPoint::~GivenFloatingPoint() { std::fesetenv(&own_); }

}  // namespace ondula
