// Keeps the reason why the running test case is skipped.
// SPDX-License-Identifier: MIT
#include "tests/support/skip.hpp"

#include <utility>

namespace ondula::test {

namespace {

std::optional<std::string>& reason_of_running_case() {
  static std::optional<std::string> reason;
  return reason;
}

}  // namespace

void skip(std::string reason) { reason_of_running_case() = std::move(reason); }

const std::optional<std::string>& skip_reason() { return reason_of_running_case(); }

void forget_skip() { reason_of_running_case().reset(); }

}  // namespace ondula::test
