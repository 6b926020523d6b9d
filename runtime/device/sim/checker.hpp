// Looks at every load and store of one launch: bounds, first writes, races, sectors.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <csetjmp>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "runtime/device/sim/block_traffic.hpp"
#include "runtime/device/sim/executor.hpp"
#include "runtime/device/sim/fibers.hpp"
#include "runtime/device/sim/program.hpp"
#include "runtime/device/sim/shadow_cells.hpp"

namespace ondula::sim {

/// What checked code talks to while it runs. One at a time on a thread of the machine.
class Checker {
 public:
  /// What it does: say what is wrong, count sectors.
  struct Duties {
    bool report = false, count = false;
  };
  Checker(const Launch& launch, const Variant& code, Shadow& shadow, Duties duties,
          std::vector<Finding>& findings);

  void begin_block(std::uint64_t number, const Dim3& index);
  /// Thread `number` of the block runs from here on, on a stack that ends at `stack_top`.
  void begin_thread(std::uint32_t number, std::uint64_t stack_top) {
    thread_ = number;
    stack_top_ = stack_top;
  }
  void pass_barrier() { ++phase_; }
  /// A block that did not come to its barriers together.
  void divergent(const BlockEnd& end);

  /// Code that returns to `code` is about to load or store. False: it must not.
  bool load(std::uint64_t address, unsigned bytes, std::uint64_t code) {
    code_address_ = code;
    return access(address, bytes, false);
  }
  bool store(std::uint64_t address, unsigned bytes, std::uint64_t code) {
    code_address_ = code;
    return access(address, bytes, true);
  }

  bool stopped() const { return stopped_; }
  std::uint64_t sectors_read() const { return sectors_read_; }
  std::uint64_t sectors_written() const { return sectors_written_; }
  /// What blocks touched; null where nothing is counted.
  const BlockTraffic* blocks() const { return blocks_ ? &*blocks_ : nullptr; }
  std::jmp_buf& escape() { return escape_; }

 private:
  bool access(std::uint64_t address, unsigned bytes, bool store);
  bool own(std::uint64_t address) const;
  Region* region_at(std::uint64_t address);
  void look(Region& region, std::uint64_t address, unsigned bytes, bool store);
  void count(Region& region, std::uint64_t address, unsigned bytes, bool store);
  void tell(const Region& region, std::uint64_t address, unsigned bytes, bool store, const Problem& problem);
  void outside(std::uint64_t address, unsigned bytes, bool store);
  void add(const std::string& kind, const std::string& text, int result);
  std::string where() const;
  std::string thread_text(std::uint32_t block, std::uint32_t thread) const;
  std::string region_text(const Region& region) const;
  Dim3 thread_index(std::uint32_t number) const;

  const Launch& launch_;
  const Variant& code_;
  Shadow::Impl& shadow_;
  bool report_;
  std::vector<Finding>& findings_;
  std::set<std::string> told_;
  std::array<Region*, 256> recent_{};  ///< by code: a load keeps to its array
  Region shared_;
  std::uint32_t operation_;  ///< as the shadow numbers it
  std::uint32_t stamp_;      ///< of this launch, on sectors
  std::uint64_t stack_top_ = 0, code_address_ = 0;
  std::uint32_t block_ = 0, thread_ = 0, phase_ = 0;
  Dim3 block_index_;
  bool stopped_ = false;
  std::uint64_t sectors_read_ = 0, sectors_written_ = 0;
  std::optional<BlockTraffic> blocks_;
  std::jmp_buf escape_ = {};
};

/// What runs on this thread of the machine: whom kernels' calls reach. Null: nothing.
struct Running {
  Checker* checker = nullptr;
  Fibers* fibers = nullptr;
};

/// While it lives, `running` is what this thread's kernels reach.
class RunningScope {
 public:
  explicit RunningScope(Running running);
  ~RunningScope();
  RunningScope(const RunningScope&) = delete;
  RunningScope& operator=(const RunningScope&) = delete;

 private:
  Running before_;
};

}  // namespace ondula::sim
