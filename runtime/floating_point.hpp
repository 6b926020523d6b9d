// Floating-point state: the library computes in the default one, and leaves the caller's as it found it.
// SPDX-License-Identifier: MIT
#pragma once

#include <xmmintrin.h>

#include <cfenv>

namespace ondula {

/// While this lives the thread rounds to nearest, keeps denormals and traps nothing; afterwards rounding
/// mode, flushing, masks and exception flags are the caller's again.
class DefaultFloatingPoint {
 public:
  DefaultFloatingPoint() noexcept;
  ~DefaultFloatingPoint();
  DefaultFloatingPoint(const DefaultFloatingPoint&) = delete;
  DefaultFloatingPoint& operator=(const DefaultFloatingPoint&) = delete;
  /// What the caller had.
  const std::fenv_t& caller() const noexcept { return caller_; }

 private:
  std::fenv_t caller_;
};

/// While this lives denormals are zero to the thread, read or computed, as in a run's kernels; afterwards its
/// own state is back.
class FlushDenormals {
 public:
  FlushDenormals() noexcept : saved_(_mm_getcsr()) { _mm_setcsr(saved_ | 0x8040U); }  // FTZ and DAZ
  FlushDenormals(const FlushDenormals&) = delete;
  FlushDenormals& operator=(const FlushDenormals&) = delete;
  ~FlushDenormals() { _mm_setcsr(saved_); }

 private:
  unsigned saved_;
};

/// While this lives the thread has `state`, for a call back into the caller's code; afterwards its own again.
class GivenFloatingPoint {
 public:
  explicit GivenFloatingPoint(const std::fenv_t& state) noexcept;
  ~GivenFloatingPoint();
  GivenFloatingPoint(const GivenFloatingPoint&) = delete;
  GivenFloatingPoint& operator=(const GivenFloatingPoint&) = delete;

 private:
  std::fenv_t own_;
};

}  // namespace ondula
