// Sums of weights by key, of many terms each.
// SPDX-License-Identifier: MIT
#include "runtime/weight_sums.hpp"

#include <algorithm>

namespace ondula {

/// An entry of 0 for a key that has none.
WeightSums::Entry* WeightSums::insert(std::int64_t key) {
  if (4 * used_.size() >= slots_.size()) {
    std::vector<Entry> old(2 * slots_.size(), Entry{free, 0});
    old.swap(slots_);
    --shift_;
    for (std::uint32_t& slot : used_) {
      Entry* entry = find(old[slot].key);
      *entry = old[slot];
      slot = static_cast<std::uint32_t>(entry - slots_.data());
    }
  }
  Entry* entry = find(key);
  *entry = {key, 0};
  used_.push_back(static_cast<std::uint32_t>(entry - slots_.data()));
  return entry;
}

void WeightSums::take(std::vector<Entry>& into) {
  into.clear();
  for (const std::uint32_t slot : used_) {
    if (slots_[slot].weight != 0) into.push_back(slots_[slot]);
    slots_[slot].key = free;
  }
  used_.clear();
  std::sort(into.begin(), into.end(), [](const Entry& a, const Entry& b) { return a.key < b.key; });
}

}  // namespace ondula
