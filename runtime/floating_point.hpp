// Floating-point state: the library computes in the default one, and leaves the caller's as it found it.
// SPDX-License-Identifier: MIT
#pragma once

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
