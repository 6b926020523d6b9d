// Skipping a test case, with the reason.
// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>

namespace ondula::test {

/// Marks the running case as skipped; the reporter prints `reason`. A case that has failed before stays
/// failed.
void skip(std::string reason);

/// The reason the running case gave, if it was skipped.
const std::optional<std::string>& skip_reason();

/// Called by the reporter when a case starts.
void forget_skip();

}  // namespace ondula::test

/// Skips the rest of the running case: use it in the case's own body (it returns from the enclosing
/// function).
#define ONDULA_SKIP(reason)       \
  do {                            \
    ::ondula::test::skip(reason); \
    return;                       \
  } while (false)
