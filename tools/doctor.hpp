// `ondula doctor`: what is here, what is missing, and where it was looked for.
// SPDX-License-Identifier: MIT
#pragma once

#include "tools/options.hpp"

namespace ondula::tools {

struct DoctorOptions {
  Voice voice;
};

/// Prints what this machine offers and what to do about what is missing.
void examine_machine(const DoctorOptions& options);

}  // namespace ondula::tools
