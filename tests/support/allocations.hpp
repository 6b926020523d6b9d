// How much memory the test program holds from operator new, now and at its peak.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

namespace ondula::test {

/// Bytes held now, by every thread, libondula included.
std::size_t allocated_now();

/// The most bytes held at once since `forget_allocated_peak`.
std::size_t allocated_peak();
void forget_allocated_peak();

}  // namespace ondula::test
