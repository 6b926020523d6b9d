// Faults planted in kernels: each is found, every time, and what is next to it is not.
// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

namespace ondula::test {}
