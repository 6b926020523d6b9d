// The cells of shadow memory: what each word remembers, and what an access finds wrong with it.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "runtime/device/sim/shadow.hpp"
#include "runtime/device/sim/zeroed.hpp"

namespace ondula::sim {

/// Who touches memory: a thread of a launch, or a copy or fill as a whole.
struct Access {
  std::uint32_t operation = 0;  ///< as Shadow::Impl numbers them
  std::uint32_t block = 0;
  std::uint32_t thread = 0;  ///< of the block
  std::uint32_t phase = 0;   ///< barriers that the block has passed
};

/// What one word of 4 bytes remembers. In a launch a later access is ordered after an earlier one by a
/// barrier of the block both are of, so that of many readers only whether they differ has to be known: in
/// blocks, or in threads since the last barrier. Accesses of single bytes are told apart only as long as one
/// thread makes them.
struct Cell {
  static constexpr std::uint32_t many = ~std::uint32_t{0};

  std::uint32_t write_operation = 0, write_block = 0, write_thread = 0, write_phase = 0;
  std::uint32_t read_operation = 0, read_block = 0, read_thread = 0, read_phase = 0;
  std::uint32_t other_read_operation = 0;  ///< one not ordered before the last, if any
  std::uint8_t written = 0;                ///< bit b: byte b holds something
  std::uint8_t write_mask = 0;             ///< bytes of the last write
  std::uint8_t read_mask = 0;              ///< bytes read since by the last reader
};

/// What an access finds.
struct Problem {
  enum class Kind { none, unwritten, after_write, after_read };
  Kind kind = Kind::none;
  bool same_operation = false;  ///< the other one is of this launch
  std::uint32_t operation = 0, block = 0, thread = 0;
};

/// Memory with shadow cells: one allocation, or a block's shared memory.
struct Region {
  std::uint64_t begin = 0;
  std::size_t bytes = 0;
  Zeroed<Cell> cells;                                   ///< a word each
  Zeroed<std::uint32_t> sectors_read, sectors_written;  ///< a sector each: the last launch that touched it

  Region() = default;
  Region(std::uint64_t address, std::size_t size);
  std::uint64_t end() const { return begin + bytes; }
  bool holds(std::uint64_t address) const { return address - begin < bytes; }
};

/// The table of allocations and of operations.
class Shadow::Impl {
 public:
  explicit Impl(Order order) : order_(std::move(order)) {}

  /// The allocation that holds `address`, or null.
  Region* find(std::uint64_t address);
  /// The allocation nearest to an address that none holds, or null; and the one freed last that held it.
  const Region* nearest(std::uint64_t address) const;
  const Region* freed(std::uint64_t address) const;
  void add(std::uint64_t address, std::size_t bytes);
  /// The region, taken out.
  Region remove(std::uint64_t address);

  /// The small number of an operation, new ones counted up.
  std::uint32_t number(std::uint64_t operation);
  void label(std::uint32_t number, const std::string& what) { labels_[number] = what; }
  std::string label_of(std::uint32_t number) const;
  /// Another number for each launch, which it leaves on the sectors it touches.
  std::uint32_t next_stamp() { return ++stamps_; }
  /// Whether operation `a` ended before `b` begins.
  bool ordered(std::uint32_t a, std::uint32_t b);

  /// What is wrong with the access to the bytes `mask` of a cell, which then remembers it.
  Problem load(Cell& cell, unsigned mask, const Access& by);
  Problem store(Cell& cell, unsigned mask, const Access& by);

 private:
  Problem against_write(const Cell& cell, unsigned mask, const Access& by);
  Problem against_reads(const Cell& cell, unsigned mask, const Access& by);

  static constexpr std::size_t freed_kept = 64;
  Order order_;
  std::map<std::uint64_t, Region> regions_;
  std::deque<Region> freed_;  ///< without cells
  Region* last_ = nullptr;
  std::unordered_map<std::uint64_t, std::uint32_t> numbers_;
  std::vector<std::uint64_t> operations_ = {0};  ///< by number; 0 is the host
  std::map<std::uint32_t, std::string> labels_;
  std::uint32_t stamps_ = 0;
  std::uint32_t asked_for_ = 0;  ///< the operation whose answers are kept
  std::unordered_map<std::uint32_t, bool> answers_;
};

/// The bytes of a cell that [address, address + bytes) covers, as a mask; `cell` counts from `region`'s
/// begin.
inline unsigned mask_of(const Region& region, std::size_t cell, std::uint64_t address, std::size_t bytes) {
  unsigned mask = 0;
  for (unsigned b = 0; b < 4; ++b) {
    const std::uint64_t at = region.begin + 4 * cell + b;
    if (at >= address && at - address < bytes) mask |= 1U << b;
  }
  return mask;
}

}  // namespace ondula::sim
