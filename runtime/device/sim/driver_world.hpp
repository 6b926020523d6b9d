// The state of the stand-in driver: devices, contexts and everything that handles stand for.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "runtime/device/cuda/driver.hpp"
#include "runtime/device/sim/control.h"
#include "runtime/device/sim/driver_clock.hpp"
#include "runtime/device/sim/driver_faults.hpp"
#include "runtime/device/sim/driver_host.hpp"
#include "runtime/device/sim/driver_memory.hpp"
#include "runtime/device/sim/driver_objects.hpp"
#include "runtime/device/sim/driver_queue.hpp"

namespace ondula::sim::driver {

/// What the driver pretends to be.
struct Configuration {
  int devices = 1;
  int capability = 90;
  std::uint64_t memory = std::uint64_t{16} << 30;  ///< bytes of each device
  int driver_version = 13000;
  int multiprocessors = 16;
  cuda::Result old_driver = cuda::result::unsupported_ptx_version;
  Mode mode = Mode::fast;
  std::uint64_t seed = 0;
};

/// The defaults, changed by ONDULA_SIM_MODE, _SEED, _DEVICES, _CAPABILITY, _MEMORY, _DRIVER_VERSION. Throws
/// UserError for what none of them may say.
Configuration configuration_of_environment();

/// Thrown by what a call does, to return `result`.
struct Refusal {
  cuda::Result result;
};

/// Everything; for one call at a time (driver_call.hpp).
class World {
 public:
  explicit World(const Configuration& configuration);
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  /// Everything enqueued in the stream so far, what the host knows to have ended, and for the stream's kind
  /// what it must wait for in others.
  Point before(const StreamObject& stream);
  /// Enqueues an operation after `before`, on the branch-th timeline of the stream; returns the point behind
  /// it.
  Point submit(ContextObject& context, const Point& before, StreamObject& stream, std::size_t branch,
               Work work);
  /// Enqueues at the end of a stream that is not being captured.
  void enqueue(StreamObject& stream, Work work);

  /// Runs what is before the point; the host knows then.
  void finish(const Point& point);
  /// A query: true when all before the point has ended, which the host knows then. Otherwise one operation
  /// more runs.
  bool ended(const Point& point);
  /// All of a context's.
  void finish(ContextObject& context);

  /// Notes findings, the first of which poisons the context.
  void note(ContextObject& context, const std::vector<Finding>& findings);
  void poison(ContextObject& context, cuda::Result result);
  /// Why a call returns `result`, for cuGetErrorString.
  void explain(cuda::Result result, const std::string& text);
  /// The last explanation of this result, or null; it lives until the next reset.
  const char* error_text(cuda::Result error) const;

  void set_mode(Mode mode, std::uint64_t seed);
  void count_sectors(bool on);
  bool checking() const { return queue_.mode() == Mode::check; }
  /// Fast mode: operations have run when submit() returns.
  bool immediate() const { return queue_.mode() == Mode::fast; }

  /// Allocates device memory; 0 where there is none left.
  std::uint64_t allocate(ContextObject& context, std::size_t bytes);
  /// Ends what is pending first, as the driver does in practice; nothing may be concluded from that, so the
  /// host does not know it then.
  void free(const Allocation& allocation);
  void free_pinned(const Allocation& allocation);
  const Allocation* device_allocation(std::uint64_t address, std::size_t bytes) const {
    return memory_.covering(address, bytes);
  }
  std::uint64_t used(int device) const;
  /// Throws Refusal invalid_value unless the bytes lie in one allocation.
  void require(std::uint64_t address, std::size_t bytes) const;
  Placement placement() const;

  /// Makes a context; `references` 1 for a primary one.
  ContextObject& create_context(int device, unsigned references);
  /// Destroys it and all that is in it; in check mode what was left is a finding.
  void destroy_context(ContextObject& context);
  ContextObject* primary(int device) const;

  ondula_sim_counts counts() const;

  Configuration configuration;
  bool initialized = false;
  Faults faults;
  std::vector<std::string> findings;
  std::map<std::string, Counters> counters;  ///< by kernel

  Table<cuda::Context, ContextObject> contexts{1};
  Table<cuda::Stream, StreamObject> streams{2};
  Table<cuda::Event, EventObject> events{3};
  Table<cuda::Module, ModuleObject> modules{4};
  Table<cuda::Function, FunctionObject> functions{5};
  Table<cuda::Graph, GraphObject> graphs{6};
  Table<cuda::GraphExec, ExecObject> execs{7};
  std::vector<std::shared_ptr<Capture>> captures;  ///< those in progress
  Allocations pinned;
  std::uint64_t streams_made = 0;
  std::size_t programs = 0;  ///< NVRTC's

 private:
  void execute(const Operation& operation);
  void run(const Operation& operation, const Copy& copy, std::vector<Finding>& found);
  void run(const Operation& operation, const Fill& fill, std::vector<Finding>& found);
  void run(const Operation& operation, const KernelRun& kernel, std::vector<Finding>& found);
  void to_host(const Operation& operation, const Copy& copy, std::vector<Finding>& found);
  void to_device(const Operation& operation, const Copy& copy, std::vector<Finding>& found);
  /// Tells the shadow of the allocation's context, if there is one.
  void wrote(const Operation& operation, std::uint64_t to, std::size_t bytes, std::vector<Finding>& found);
  void read(const Operation& operation, std::uint64_t from, std::size_t bytes, std::vector<Finding>& found);
  void renew_shadow(ContextObject& context);
  void prune();
  Timeline timeline(StreamObject& stream, std::size_t branch);
  void join_streams(Point& point, ContextObject& context, bool blocking_only);
  void note_leaks(const ContextObject& context);

  Queue queue_;
  Timelines timelines_;
  Clock host_;                      ///< what the host knows to have ended
  const Clock* running_ = nullptr;  ///< of the operation that runs
  HostUses host_uses_;
  Allocations memory_;
  std::map<int, std::uint64_t> used_;  ///< bytes, by device
  std::uint64_t peak_ = 0;
  std::uint64_t operations_ = 0;
  bool count_sectors_ = false;
  std::deque<std::pair<cuda::Result, std::string>> error_texts_;  ///< stay where they are
};

}  // namespace ondula::sim::driver
