// Ctrl-C as a request to stop.
// SPDX-License-Identifier: MIT
#include "tools/interrupt.hpp"

#include <csignal>

#include "runtime/propagator.hpp"

namespace ondula::tools {
namespace {

// A handler may touch nothing else.
volatile std::sig_atomic_t signalled = 0;

void remember(int) { signalled = 1; }

}  // namespace

void catch_interrupts() {
  struct sigaction action = {};
  action.sa_handler = remember;
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
  for (const int signal : {SIGINT, SIGTERM}) sigaction(signal, &action, nullptr);
}

bool interrupted() noexcept { return signalled != 0; }

void stop_if_interrupted() {
  if (interrupted()) throw Cancelled("interrupted before every file was written");
}

}  // namespace ondula::tools
