// What the operating system tells of this machine.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>

namespace ondula::tools {

/// Bytes of memory a new process could have; 0 where the system does not say.
std::size_t memory_available();
/// Bytes of memory there are; 0 where the system does not say.
std::size_t memory_total();
/// The largest resident size of this process so far, bytes.
std::size_t memory_peak();
/// "Debian GNU/Linux 12 (bookworm), Linux 6.1.0".
std::string system_text();
/// The CPU's name as its maker gives it; empty where the system does not say.
std::string cpu_name();
/// Threads this process may run at once.
int threads_available();

}  // namespace ondula::tools
