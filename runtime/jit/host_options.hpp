// The compiler options of host kernels: one canonical list, whatever way the caller said it.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "runtime/jit/cpu.hpp"

namespace ondula::jit {

/// The full list of `clang -cc1` arguments for a host kernel on `cpu`, the text's `name` last. `options` are
/// the caller's: "-O0" to "-O3" (default -O1), "-mprefer-vector-width=128", "=256" or "=512" (default 512
/// where the CPU has AVX-512, which Clang would not use on its own; else none), "-DNAME" and "-DNAME=VALUE".
/// A later one beats an earlier one, and one that says the default changes nothing, so that equal meanings
/// give equal lists. Throws UserError for any other option.
std::vector<std::string> host_arguments(const Cpu& cpu, const std::vector<std::string>& options,
                                        const std::string& name);

}  // namespace ondula::jit
