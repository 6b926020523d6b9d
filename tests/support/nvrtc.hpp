// Skipping what needs NVRTC, where there is none.
// SPDX-License-Identifier: MIT
#pragma once

#include "runtime/jit/nvrtc.hpp"
#include "tests/support/skip.hpp"

/// Skips a case that compiles CUDA text, where there is no NVRTC.
#define ONDULA_NEEDS_NVRTC() \
  if (const auto status = ::ondula::jit::inspect_nvrtc(); !status.usable) ONDULA_SKIP(status.problem)
