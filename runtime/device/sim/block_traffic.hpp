// What the threads of a block ask L2 for, where L1 keeps one round of them.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ondula::sim {

/// A set of numbers that is emptied often.
class NumberSet {
 public:
  NumberSet();
  /// Whether `number`, which is not 0, was not there yet.
  bool insert(std::uint64_t number);
  void clear();

 private:
  void grow();
  std::size_t place(std::uint64_t number) const;

  std::vector<std::uint64_t> slots_;  ///< 0: free; a power of two of them, at most half taken
  std::size_t taken_ = 0;
};

/// Distinct sectors of each block and round: a thread's n-th pass through a load or store is of round n, so a
/// block that marches through planes has one round a plane, and one that looks at a single plane has one.
/// Summed over all blocks of a launch.
class BlockTraffic {
 public:
  /// Of blocks of `threads` threads whose code is the `code_bytes` from `code` on.
  BlockTraffic(std::uint64_t code, std::size_t code_bytes, std::size_t threads);

  void begin_block();
  /// The instruction before `code` has thread `thread` of the block load from, or store to, a sector.
  void touch(std::uint64_t code, std::uint32_t thread, std::uint64_t first, std::uint64_t last, bool store);
  std::uint64_t sectors_read() const { return read_; }
  std::uint64_t sectors_written() const { return written_; }

 private:
  std::uint64_t code_;
  std::size_t threads_;
  std::vector<std::uint32_t> places_;  ///< by byte of code: the number of the access there from 1 on; 0: none
  std::vector<std::uint32_t> passes_;  ///< by access and thread
  NumberSet reads_, writes_;
  std::uint64_t read_ = 0, written_ = 0;
};

}  // namespace ondula::sim
