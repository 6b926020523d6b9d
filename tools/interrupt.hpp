// Ctrl-C as a request to stop, seen by the time loop.
// SPDX-License-Identifier: MIT
#pragma once

namespace ondula::tools {

/// From here on SIGINT and SIGTERM are remembered; a second one ends the process as usual.
void catch_interrupts();
/// Whether one came.
bool interrupted() noexcept;
/// Throws Cancelled if one came: between two files, say.
void stop_if_interrupted();

}  // namespace ondula::tools
