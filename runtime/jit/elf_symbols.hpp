// The few functions a kernel object may call without defining them.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>

namespace ondula::jit {

/// The address of memcpy, memmove, memset or one of libm's functions; nullptr for any other name.
void* external_symbol(const std::string& name);

/// Their names, for messages: "cos, cosf, exp, ...".
std::string external_names();

}  // namespace ondula::jit
