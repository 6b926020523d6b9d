// The version, as the build knows it.
// SPDX-License-Identifier: MIT
#include "runtime/ondula/version.hpp"

#include "runtime/clang/clang_version.h"

namespace ondula {

const char* version() noexcept { return ONDULA_VERSION; }

}  // namespace ondula
