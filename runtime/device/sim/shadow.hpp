// Shadow memory of the device: what was allocated, written and read, by whom; races and stray accesses.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/device/sim/executor.hpp"

namespace ondula::sim {

/// Whether operation `a` surely ended before `b` begins: by stream order, events, or the host waiting.
using Order = std::function<bool(std::uint64_t a, std::uint64_t b)>;

/// One allocation and what happened to each of its words of 4 bytes. Not for two threads at once.
class Shadow {
 public:
  /// Without an order every two operations count as ordered: only races within a launch are found.
  explicit Shadow(Order order = {});
  ~Shadow();
  Shadow(const Shadow&) = delete;
  Shadow& operator=(const Shadow&) = delete;

  /// An allocation of `bytes` from `address`, a multiple of 4: nothing of it written.
  void add(std::uint64_t address, std::size_t bytes);
  /// It is freed; a later access is out of bounds. `operation`: the free must be ordered after every use of
  /// it; 0: it waits for all. Findings say what still used it.
  void remove(std::uint64_t address, std::vector<Finding>& findings, std::uint64_t operation = 0);
  /// A copy or fill wrote, or read, these bytes as operation `operation`, called `what` in findings ("copy
  /// from the host"). Operation 0 is the host, ordered with everything.
  void wrote(std::uint64_t address, std::size_t bytes, std::uint64_t operation, const std::string& what,
             std::vector<Finding>& findings);
  void read(std::uint64_t address, std::size_t bytes, std::uint64_t operation, const std::string& what,
            std::vector<Finding>& findings);
  /// A label for an operation, which later findings show where it is one side of a race.
  void label(std::uint64_t operation, const std::string& what);
  /// Marks bytes unwritten again, as memory that a pool hands out anew; NaN is the caller's to fill in.
  void forget(std::uint64_t address, std::size_t bytes);

  class Impl;
  Impl& impl() { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace ondula::sim
