// Rounds of a block's threads, and the sectors of each.
// SPDX-License-Identifier: MIT
#include "runtime/device/sim/block_traffic.hpp"

#include <algorithm>

#include "compiler/error.hpp"

namespace ondula::sim {
namespace {

constexpr std::size_t first_slots = 1024;
constexpr unsigned round_bits = 20;

}  // namespace

NumberSet::NumberSet() : slots_(first_slots) {}

std::size_t NumberSet::place(std::uint64_t number) const {
  const std::size_t mask = slots_.size() - 1;
  std::uint64_t hash = number * 0x9e3779b97f4a7c15U;
  std::size_t at = (hash ^ (hash >> 32)) & mask;
  while (slots_[at] != 0 && slots_[at] != number) at = (at + 1) & mask;
  return at;
}

bool NumberSet::insert(std::uint64_t number) {
  std::size_t at = place(number);
  if (slots_[at] == number) return false;
  if (2 * ++taken_ > slots_.size()) {
    grow();
    at = place(number);
  }
  slots_[at] = number;
  return true;
}

void NumberSet::grow() {
  std::vector<std::uint64_t> before(2 * slots_.size());
  before.swap(slots_);
  for (const std::uint64_t number : before)
    if (number != 0) slots_[place(number)] = number;
}

void NumberSet::clear() {
  if (taken_ > 0) std::fill(slots_.begin(), slots_.end(), 0);
  taken_ = 0;
}

BlockTraffic::BlockTraffic(std::uint64_t code, std::size_t code_bytes, std::size_t threads)
    : code_(code), threads_(threads), places_(code_bytes + 1) {}

void BlockTraffic::begin_block() {
  std::fill(passes_.begin(), passes_.end(), 0U);
  reads_.clear();
  writes_.clear();
}

void BlockTraffic::touch(std::uint64_t code, std::uint32_t thread, std::uint64_t first, std::uint64_t last,
                         bool store) {
  std::uint32_t& number = places_.at(code - code_);
  if (number == 0) {
    passes_.resize(passes_.size() + threads_);
    number = static_cast<std::uint32_t>(passes_.size() / threads_);
  }
  const std::uint32_t round = passes_[(number - 1) * threads_ + thread]++;
  if (round >> round_bits != 0) throw InternalError("a thread's loop is too long to count its sectors");
  NumberSet& set = store ? writes_ : reads_;
  for (std::uint64_t sector = first; sector <= last; ++sector)
    if (set.insert(sector << round_bits | round)) ++(store ? written_ : read_);
}

}  // namespace ondula::sim
