// Names of private scratch directories, which tell whose they are.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>

namespace ondula::storage {

/// The name of this process's directory `number`: machine, process and the time it started stand in it.
std::string private_name(int number);

}  // namespace ondula::storage
