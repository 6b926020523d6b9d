// The threads of a block as fibers of one thread of the machine, so that they can wait for each other.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace ondula::sim {

/// What became of a block.
struct BlockEnd {
  enum class Kind { done, abandoned, exited_at_barrier, two_barriers };
  Kind kind = Kind::done;
  unsigned waiting = 0, other = 0;            ///< threads, of those that did not agree
  unsigned waiting_line = 0, other_line = 0;  ///< of the text, where they wait; other_line 0: it has ended
};

/// Stacks for the threads of one block at a time. Used by one thread of the machine.
class Fibers {
 public:
  static constexpr std::size_t stack_bytes = std::size_t{128} << 10;

  /// Throws RuntimeError where there is no memory for so many stacks.
  explicit Fibers(std::size_t most_threads);
  ~Fibers();
  Fibers(const Fibers&) = delete;
  Fibers& operator=(const Fibers&) = delete;

  /// Runs body(t) for each t in `order`, one after the other up to the next barrier. With `strict`, all
  /// threads of a block must come to the same barriers, else the block ends there; without, a barrier opens
  /// when all that have not ended wait at some barrier, as GPUs do it. `passed` is told of each that opens.
  BlockEnd run(std::span<const std::uint32_t> order, const std::function<void(std::uint32_t)>& body,
               bool strict, const std::function<void()>& passed);

  /// Called on a fiber: waits for the others.
  void wait(unsigned line);
  /// Called on a fiber: ends the block where it is.
  [[noreturn]] void abandon();
  /// The thread whose fiber runs, and the upper end of its stack.
  std::uint32_t thread() const { return fibers_[running_].thread; }
  std::uint64_t stack_top() const { return top(running_); }

 private:
  struct Fiber {
    void* context = nullptr;
    std::uint32_t thread = 0;
    unsigned line = 0;  ///< where it waits
    bool ended = false;
  };
  static void enter(void* transfer_context, void* self);
  std::uint64_t top(std::size_t fiber) const {
    return reinterpret_cast<std::uint64_t>(stacks_) + (fiber + 1) * (stack_bytes + guard_bytes);
  }
  bool disagree(bool strict, BlockEnd& end) const;

  static constexpr std::size_t guard_bytes = 4096;
  std::byte* stacks_ = nullptr;
  std::size_t most_ = 0;
  std::vector<Fiber> fibers_;
  std::size_t running_ = 0;
  void* scheduler_ = nullptr;  ///< its context while a fiber runs
  bool abandoned_ = false;
  const std::function<void(std::uint32_t)>* body_ = nullptr;
};

}  // namespace ondula::sim
