// Host memory that copies use while the host may touch it too.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "runtime/device/sim/driver_queue.hpp"

namespace ondula::sim::driver {

/// Looks after the host's side of copies that are enqueued and of which the host does not know that they
/// ended.
class HostUses {
 public:
  /// Whether one operation ended before another's clock.
  using Ended = std::function<bool(std::uint64_t, const Clock&)>;

  /// A copy is enqueued. What a copy to the host will write becomes NaN (bytes 0xff), so that reading it too
  /// early shows; of what a copy to the device will read the hash is kept. Not where an earlier copy that
  /// may not have ended uses the same memory: with `ended` (check mode), one that need not end first is a
  /// finding, appended.
  void enqueued(const Operation& copy, const Ended& ended, std::vector<Finding>& findings);
  /// The copy is about to write to the host, where these bytes are now: they must be as they were left.
  void before_writing(const Operation& copy, const void* bytes, std::vector<Finding>& findings) const;
  /// The copy has read the host's memory, these bytes: they must be what they were when it was enqueued.
  void after_reading(const Operation& copy, const void* bytes, std::vector<Finding>& findings) const;
  /// Forgets those operations that are over.
  void prune(const std::function<bool(std::uint64_t)>& over);
  /// The memory is freed, all copies having ended.
  void forget(std::uint64_t address, std::size_t bytes);
  void clear() { uses_.clear(); }

 private:
  struct Use {
    std::uint64_t operation;
    std::string what;
    std::uint64_t begin, end;
    bool writes;
    bool watched;
    std::uint64_t hash;
  };
  const Use* find(std::uint64_t operation) const;
  std::vector<Use> uses_;
};

/// Copies between the process's own memory as far as both ends are mapped; returns how many bytes were.
std::size_t copy_if_mapped(void* to, const void* from, std::size_t bytes);

}  // namespace ondula::sim::driver
