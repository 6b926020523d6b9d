// Operations that wait for others, and the order in which they run.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "runtime/device/sim/driver_objects.hpp"

namespace ondula::sim::driver {

/// One thing a device does.
struct Operation {
  std::uint64_t id = 0;
  ContextObject* context = nullptr;
  Work work;
  std::string what;                  ///< for findings
  Clock clock;                       ///< what has ended before it, itself included; check mode only
  std::vector<std::uint64_t> waits;  ///< it runs after these
};

/// Runs operations one at a time: in fast mode when they are submitted, else when something forces them.
class Queue {
 public:
  using Execute = std::function<void(const Operation&)>;
  /// So many may wait; one more makes half of them run.
  static constexpr std::size_t capacity = 4096;

  explicit Queue(Execute execute) : execute_(std::move(execute)) {}

  /// Nothing may be pending.
  void set_mode(Mode mode, std::uint64_t seed);
  Mode mode() const { return mode_; }
  void submit(Operation operation);
  bool pending(std::uint64_t id) const { return pending_.contains(id); }
  bool pending(const std::vector<std::uint64_t>& ids) const;
  /// Runs operations until these have ended: in check mode only what they wait for, so that nothing else
  /// happens to be done as well.
  void finish(const std::vector<std::uint64_t>& ids);
  /// Runs one operation that these wait for, if there is one.
  void advance(const std::vector<std::uint64_t>& ids);
  void finish_all();
  /// Forgets what a poisoned context was to do.
  void drop(const ContextObject* context);

 private:
  struct Entry {
    Operation operation;  ///< its waits are those still pending
    std::vector<std::uint64_t> followers;
  };

  std::set<std::uint64_t> awaited(const std::vector<std::uint64_t>& targets) const;
  void advance(const std::vector<std::uint64_t>& targets, const std::set<std::uint64_t>& awaited);
  void run_one(const std::vector<std::uint64_t>& among);
  void release(std::uint64_t id, const std::vector<std::uint64_t>& followers);

  Execute execute_;
  Mode mode_ = Mode::fast;
  std::mt19937_64 random_;
  std::map<std::uint64_t, Entry> pending_;
  std::set<std::uint64_t> ready_;
};

}  // namespace ondula::sim::driver
