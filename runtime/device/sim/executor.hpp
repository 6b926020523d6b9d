// Runs CUDA kernels on the CPU: programs, their kernels, and one launch at a time.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace ondula::sim {

class Shadow;

/// How launches run: fast in the order that suits the machine; shuffle with blocks and threads in an order
/// drawn from the seed; check as shuffle, every load and store looked at.
enum class Mode { fast, shuffle, check };

/// Something wrong in what was run, and the CUresult the driver gives for it: 700 or 719.
struct Finding {
  std::string text;
  int result = 719;
};

/// A parameter of a kernel: where it stands in the packed arguments, in bytes.
struct Parameter {
  std::size_t offset = 0;
  std::size_t bytes = 0;
  std::size_t alignment = 1;
  bool pointer = false;
  std::string name;  ///< as the text has it; may be empty
};

/// What is known of a kernel without running it.
struct Kernel {
  std::string name;
  std::vector<Parameter> parameters;  ///< in order
  std::size_t argument_bytes = 0;     ///< of all parameters, packed
  int threads_bound = 1024;           ///< of __launch_bounds__
  int blocks_bound = 0;               ///< least blocks per multiprocessor of __launch_bounds__; 0: not said
  std::size_t shared_bytes = 0;       ///< static shared memory of a block
  bool barriers = false;              ///< the text has a barrier: threads of a block run as fibers
  std::size_t index = 0;              ///< among the program's kernels

  /// `pointers[i]` points to the i-th argument, as cuLaunchKernel takes them.
  std::vector<std::byte> pack(void* const* pointers) const;
};

/// A loaded binary. It may be used by many threads at once.
class Program {
 public:
  /// Loads what compile() made. Throws RuntimeError where the bytes are no such binary or are damaged.
  static std::shared_ptr<Program> load(std::span<const std::byte> binary);
  virtual ~Program() = default;
  /// The bytes of the binary that begins at `image`, told from its first 64; 0 where it is none (PTX text).
  static std::size_t bytes_at(const void* image);
  /// The kernel called `name`, or nullptr; it lives as long as the program.
  virtual const Kernel* find(const std::string& name) const = 0;
  /// In the text's order.
  virtual std::vector<const Kernel*> kernels() const = 0;
  /// The architecture the text was compiled for, for example 90.
  virtual int capability() const = 0;
};

/// One launch of a kernel. `operation` identifies it in findings and to Order (shadow.hpp).
struct Launch {
  const Program* program = nullptr;
  const Kernel* kernel = nullptr;
  std::array<unsigned, 3> grid{1, 1, 1};
  std::array<unsigned, 3> block{1, 1, 1};
  unsigned shared_bytes = 0;         ///< dynamic shared memory of a block, which no text can name here
  std::vector<std::byte> arguments;  ///< as Kernel::pack lays them out
  std::uint64_t operation = 0;
};

/// What a launch did to memory, in sectors of 32 bytes. With a cold cache, that is what DRAM moves: each
/// sector once a launch. By block, that is what L2 gives where L1 keeps a block's plane and nothing else:
/// each sector once a block and round, the n-th round being its threads' n-th pass through a load.
struct Counters {
  std::uint64_t launches = 0;
  std::uint64_t threads = 0;
  std::uint64_t sectors_read = 0;        ///< distinct sectors of device memory loaded from
  std::uint64_t sectors_written = 0;     ///< distinct sectors of device memory stored to
  std::uint64_t block_sectors_read = 0;  ///< the same, distinct within a block and round
  std::uint64_t block_sectors_written = 0;
};

/// How run() executes a launch.
struct RunOptions {
  Mode mode = Mode::fast;
  std::uint64_t seed = 0;
  Shadow* shadow = nullptr;      ///< needed in check mode, and to count sectors; knows the allocations
  Counters* counters = nullptr;  ///< gains this launch; null: nothing is counted
  bool count_sectors = false;    ///< the sectors too, which runs the checked code in any mode
  bool arithmetic = false;       ///< check mode: find integers that do not fit their type, too
  /// These blocks alone, numbered with the innermost axis fastest, on the calling thread; empty: all. For
  /// grids too large to run whole.
  std::vector<std::uint64_t> blocks;
};

/// Runs the launch to its end on the calling thread (fast mode: with oneTBB's), denormals flushed as on the
/// device; what is wrong is appended to `findings`, after which the launch's memory holds anything. Never
/// throws for what the kernel does; RuntimeError where memory for stacks or the checked code is short.
void run(const Launch& launch, const RunOptions& options, std::vector<Finding>& findings);

}  // namespace ondula::sim
