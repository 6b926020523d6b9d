// Covers of option matrices by pairs.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace ondula::test {

/// One level of each factor.
using Row = std::vector<std::size_t>;

/// All rows of `levels` that `allowed` takes.
std::vector<Row> whole_matrix(const std::vector<std::size_t>& levels,
                              const std::function<bool(const Row&)>& allowed);

/// Rows among them in which every two levels of two factors that meet in any allowed row meet at least once;
/// greedy, the same on every platform.
std::vector<Row> cover_by_pairs(const std::vector<std::size_t>& levels,
                                const std::function<bool(const Row&)>& allowed);

}  // namespace ondula::test
