// Sums of weights by key, of many terms each.
// SPDX-License-Identifier: MIT
#include "runtime/weight_sums.hpp"

#include <algorithm>
#include <utility>

namespace ondula {

void WeightSums::add(std::int64_t key, double weight) {
  if (2 * entries_.size() >= slots_.size()) grow();
  for (std::size_t s = slot(key);; s = (s + 1) & (slots_.size() - 1)) {
    if (slots_[s] == 0) {
      // A sum starts at 0: -0 as its first term makes it 0.
      entries_.push_back({key, 0.0 + weight});
      slots_[s] = static_cast<std::uint32_t>(entries_.size());
      return;
    }
    Entry& entry = entries_[slots_[s] - 1];
    if (entry.key == key) {
      entry.weight += weight;
      return;
    }
  }
}

void WeightSums::grow() {
  slots_.assign(std::max<std::size_t>(256, 2 * slots_.size()), 0);
  shift_ = 64;
  for (std::size_t size = slots_.size(); size > 1; size /= 2) --shift_;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    std::size_t s = slot(entries_[i].key);
    while (slots_[s] != 0) s = (s + 1) & (slots_.size() - 1);
    slots_[s] = static_cast<std::uint32_t>(i + 1);
  }
}

void WeightSums::take(std::vector<Entry>& into) {
  into.clear();
  std::swap(into, entries_);
  std::fill(slots_.begin(), slots_.end(), 0U);
  std::erase_if(into, [](const Entry& e) { return e.weight == 0; });
  std::sort(into.begin(), into.end(), [](const Entry& a, const Entry& b) { return a.key < b.key; });
}

}  // namespace ondula
