// The version of the library a program runs with.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/export.hpp"

namespace ondula {

/// The version of the loaded library, "MAJOR.MINOR.PATCH"; kernels in the cache belong to one version.
ONDULA_API const char* version() noexcept;

}  // namespace ondula
