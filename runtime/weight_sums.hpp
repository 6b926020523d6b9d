// Sums of weights by key, of many terms each.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

namespace ondula {

/// Adds up the weights of each key in the order of their arrival, whatever comes in between: the same bits as
/// an ordered map's, at a fraction of its time.
class WeightSums {
 public:
  struct Entry {
    std::int64_t key = 0;
    double weight = 0;
  };
  /// `key` is not negative.
  void add(std::int64_t key, double weight);
  /// The sums by ascending key, those that are exactly 0 left out; the next ones start at nothing.
  void take(std::vector<Entry>& into);

 private:
  std::size_t slot(std::int64_t key) const {
    return static_cast<std::size_t>((static_cast<std::uint64_t>(key) * 0x9E3779B97F4A7C15U) >> shift_);
  }
  void grow();

  std::vector<Entry> entries_;
  std::vector<std::uint32_t> slots_;  // open addressing: 1 + the entry's number, 0 where none is
  int shift_ = 64;                    // the highest bits of the product tell the slot
};

}  // namespace ondula
