// Greedy covers.
// SPDX-License-Identifier: MIT
#include "tests/runtime/gradient/pairs.hpp"

#include <algorithm>
#include <set>

#include "tests/verification/setup.hpp"

namespace ondula::test {
namespace {

using Pair = std::array<std::size_t, 4>;

std::vector<Pair> pairs_of(const Row& row) {
  std::vector<Pair> pairs;
  for (std::size_t a = 0; a < row.size(); ++a) {
    for (std::size_t b = a + 1; b < row.size(); ++b) pairs.push_back({a, row[a], b, row[b]});
  }
  return pairs;
}

}  // namespace

std::vector<Row> whole_matrix(const std::vector<std::size_t>& levels,
                              const std::function<bool(const Row&)>& allowed) {
  std::vector<Row> rows;
  for (Row row(levels.size(), 0);;) {
    if (allowed(row)) rows.push_back(row);
    std::size_t k = row.size();
    while (k > 0 && ++row[k - 1] == levels[k - 1]) row[--k] = 0;
    if (k == 0) return rows;
  }
}

std::vector<Row> cover_by_pairs(const std::vector<std::size_t>& levels,
                                const std::function<bool(const Row&)>& allowed) {
  std::vector<Row> candidates = whole_matrix(levels, allowed), chosen;
  std::set<Pair> open;
  for (const Row& row : candidates) {
    for (const Pair& pair : pairs_of(row)) open.insert(pair);
  }
  // A few hundred candidates at a time are enough to choose well from.
  Random random(11);
  while (!open.empty()) {
    const Row* best = nullptr;
    std::size_t most = 0;
    const std::size_t tries = std::min<std::size_t>(candidates.size(), 500);
    const auto start = static_cast<std::size_t>(random.uniform() * static_cast<double>(candidates.size()));
    for (std::size_t i = 0; i < candidates.size() && (i < tries || most == 0); ++i) {
      // 7919 is prime: steps of it reach every candidate unless it divides their number.
      const Row& row = candidates[(start + i * 7919) % candidates.size()];
      const auto pairs = pairs_of(row);
      const auto gain = static_cast<std::size_t>(
          std::count_if(pairs.begin(), pairs.end(), [&](const Pair& p) { return open.contains(p); }));
      if (gain > most) {
        most = gain;
        best = &row;
      }
    }
    if (best == nullptr) break;
    for (const Pair& pair : pairs_of(*best)) open.erase(pair);
    chosen.push_back(*best);
  }
  return chosen;
}

}  // namespace ondula::test
