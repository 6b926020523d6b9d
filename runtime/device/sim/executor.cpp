// Launches: fast over the machine's threads, or one thread of the grid after the other in an order of choice.
// SPDX-License-Identifier: MIT
#include "runtime/device/sim/executor.hpp"

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <numeric>
#include <optional>

#include "compiler/error.hpp"
#include "runtime/device/sim/checker.hpp"
#include "runtime/device/sim/fibers.hpp"
#include "runtime/device/sim/program.hpp"
#include "runtime/device/sim/shadow.hpp"
#include "runtime/floating_point.hpp"

namespace ondula::sim {
namespace {

/// splitmix64 (Steele, Lea, Flood 2014): the same numbers everywhere.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15U;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31);
  }
  template <class T>
  void shuffle(std::vector<T>& values) {
    for (std::size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[next() % i]);
  }

 private:
  std::uint64_t state_;
};

std::uint64_t volume(const std::array<unsigned, 3>& extent) {
  return std::uint64_t{extent[0]} * extent[1] * extent[2];
}

Dim3 dim3(const std::array<unsigned, 3>& extent) { return {extent[0], extent[1], extent[2]}; }

/// The index of the n-th block or thread, innermost axis fastest.
Dim3 index_of(std::uint64_t n, const std::array<unsigned, 3>& extent) {
  return {static_cast<unsigned>(n % extent[0]), static_cast<unsigned>(n / extent[0] % extent[1]),
          static_cast<unsigned>(n / extent[0] / extent[1])};
}

const char* packed(const Launch& launch) { return reinterpret_cast<const char*>(launch.arguments.data()); }

/// All threads of a block in one call.
void run_block(const Launch& launch, Entry entry, std::uint64_t block) {
  const ThreadRange range{
      dim3(launch.grid), dim3(launch.block), index_of(block, launch.grid), {}, dim3(launch.block)};
  entry(&range, packed(launch));
}

/// Blocks over the machine's threads.
void run_parallel(const Launch& launch, Entry entry) {
  constexpr std::uint64_t least_threads = 8192;  // of the grid, in one piece
  const std::uint64_t grain = std::max<std::uint64_t>(1, least_threads / volume(launch.block));
  tbb::parallel_for(tbb::blocked_range<std::uint64_t>(0, volume(launch.grid), grain),
                    [&](const tbb::blocked_range<std::uint64_t>& blocks) {
                      const DefaultFloatingPoint state;
                      const FlushDenormals flush;
                      for (std::uint64_t b = blocks.begin(); b < blocks.end(); ++b)
                        run_block(launch, entry, b);
                    });
}

/// One launch on this thread.
class Sequence {
 public:
  Sequence(const Launch& launch, const RunOptions& options, const Variant& code, Checker* checker)
      : launch_(launch),
        options_(options),
        code_(code),
        checker_(checker),
        entry_(code.entries[launch.kernel->index]),
        shuffled_(options.mode != Mode::fast),
        random_(options.seed * 0x2545f4914f6cdd1dU + launch.operation),
        threads_(static_cast<std::size_t>(volume(launch.block))) {
    std::iota(threads_.begin(), threads_.end(), 0U);
    if (launch.kernel->barriers) fibers_.emplace(threads_.size());
  }

  void run() {
    std::vector<std::uint64_t> blocks = options_.blocks;
    if (blocks.empty()) {
      blocks.resize(volume(launch_.grid));
      std::iota(blocks.begin(), blocks.end(), std::uint64_t{0});
    }
    if (shuffled_) random_.shuffle(blocks);
    const RunningScope scope({checker_, fibers_ ? &*fibers_ : nullptr});
    const DefaultFloatingPoint state;
    const FlushDenormals flush;
    for (const std::uint64_t block : blocks) {
      if (shuffled_) random_.shuffle(threads_);
      // What a block before left there is nothing to rely on.
      if (shuffled_) std::fill(code_.shared.begin(), code_.shared.end(), std::byte{0xff});
      if (checker_ != nullptr) checker_->begin_block(block, index_of(block, launch_.grid));
      if (fibers_)
        run_fibers(block);
      else if (checker_ == nullptr && !shuffled_)
        run_block(launch_, entry_, block);
      else
        run_threads(block);
      if (checker_ != nullptr && checker_->stopped()) return;
    }
  }

 private:
  void run_thread(std::uint64_t block, std::uint32_t thread) const {
    const Dim3 first = index_of(thread, launch_.block);
    const ThreadRange range{dim3(launch_.grid),
                            dim3(launch_.block),
                            index_of(block, launch_.grid),
                            first,
                            {first.x + 1, first.y + 1, first.z + 1}};
    entry_(&range, packed(launch_));
  }

  /// A stray access comes back here by way of longjmp.
  __attribute__((noinline)) bool run_guarded(std::uint64_t block, std::uint32_t thread) const {
    if (setjmp(checker_->escape()) != 0) return false;
    run_thread(block, thread);
    return true;
  }

  void run_threads(std::uint64_t block) {
    const auto top = reinterpret_cast<std::uint64_t>(__builtin_frame_address(0));
    for (const std::uint32_t thread : threads_) {
      if (checker_ == nullptr) {
        run_thread(block, thread);
        continue;
      }
      checker_->begin_thread(thread, top);
      if (!run_guarded(block, thread)) return;
    }
  }

  void run_fibers(std::uint64_t block) {
    const bool strict = options_.mode == Mode::check;
    const BlockEnd end = fibers_->run(
        threads_, [&](std::uint32_t thread) { run_thread(block, thread); }, strict,
        [&] {
          if (checker_ != nullptr) checker_->pass_barrier();
        });
    if (end.kind != BlockEnd::Kind::done && end.kind != BlockEnd::Kind::abandoned) checker_->divergent(end);
  }

  const Launch& launch_;
  const RunOptions& options_;
  const Variant& code_;
  Checker* checker_;
  Entry entry_;
  bool shuffled_;
  Random random_;
  std::vector<std::uint32_t> threads_;
  std::optional<Fibers> fibers_;
};

}  // namespace

void run(const Launch& launch, const RunOptions& options, std::vector<Finding>& findings) {
  const auto& program = static_cast<const LoadedProgram&>(*launch.program);
  const Kernel& kernel = *launch.kernel;
  const bool counted = options.count_sectors && options.counters != nullptr;
  const bool checked = options.mode == Mode::check || counted;
  if (checked && options.shadow == nullptr)
    throw InternalError("a launch is to be checked or counted without shadow memory");
  if (launch.arguments.size() != kernel.argument_bytes)
    throw InternalError("a launch has arguments of another kernel");
  const Variant& code = checked ? program.checked() : program.plain();
  const bool shared = kernel.shared_bytes > 0;
  std::unique_lock lock(program.shared_memory(), std::defer_lock);
  if (shared) lock.lock();
  if (options.mode == Mode::fast && !checked && !kernel.barriers && !shared && options.blocks.empty()) {
    run_parallel(launch, code.entries[kernel.index]);
  } else {
    std::optional<Checker> checker;
    if (checked)
      checker.emplace(launch, code, *options.shadow,
                      Checker::Duties{.report = options.mode == Mode::check, .count = counted}, findings);
    Sequence(launch, options, code, checker ? &*checker : nullptr).run();
    if (counted) {
      options.counters->sectors_read += checker->sectors_read();
      options.counters->sectors_written += checker->sectors_written();
      options.counters->block_sectors_read += checker->blocks()->sectors_read();
      options.counters->block_sectors_written += checker->blocks()->sectors_written();
    }
  }
  if (options.counters != nullptr) {
    ++options.counters->launches;
    options.counters->threads += volume(launch.grid) * volume(launch.block);
  }
}

}  // namespace ondula::sim
