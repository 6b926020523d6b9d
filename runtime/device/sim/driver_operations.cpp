// What operations follow, and what running one does.
// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <tbb/task_arena.h>

#include <cstring>
#include <exception>

#include "runtime/device/sim/driver_world.hpp"

namespace ondula::sim::driver {
namespace {

template <class... Cases>
struct Overloaded : Cases... {
  using Cases::operator()...;
};

constexpr int illegal_address = cuda::result::illegal_address;
constexpr int launch_failed = cuda::result::launch_failed;

std::string described(const Work& work, const StreamObject& stream) {
  const std::string what = std::visit(
      Overloaded{[](const Copy& copy) {
                   constexpr const char* where[] = {"to the device", "to the host", "on the device"};
                   return std::string("copy ") + where[static_cast<int>(copy.kind)];
                 },
                 [](const Fill&) { return std::string("fill"); },
                 [](const KernelRun& run) { return "kernel " + run.launch.kernel->name; },
                 [](const std::shared_ptr<Mark>&) { return std::string("event"); }},
      work);
  return fmt::format("{}, stream {}", what, stream.number);
}

void* pointer(std::uint64_t address) { return reinterpret_cast<void*>(address); }

/// Seeds of neighbouring operations must not give neighbouring orders.
std::uint64_t mixed(std::uint64_t seed, std::uint64_t operation) {
  std::uint64_t x = seed + operation * 0x9e3779b97f4a7c15U;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31);
}

}  // namespace

void Point::join(const Point& other) {
  tails.insert(tails.end(), other.tails.begin(), other.tails.end());
  clock.join(other.clock);
}

Timeline World::timeline(StreamObject& stream, std::size_t branch) {
  while (stream.timelines.size() <= branch) stream.timelines.push_back(timelines_.create());
  return stream.timelines[branch];
}

void World::join_streams(Point& point, ContextObject& context, bool blocking_only) {
  streams.each([&](StreamObject& stream) {
    if (stream.context == &context && (stream.blocking || !blocking_only)) point.join(stream.end);
  });
  for (const auto& [thread, stream] : context.per_thread) point.join(stream->end);
}

Point World::before(const StreamObject& stream) {
  if (immediate()) return {};
  Point point = stream.end;
  point.clock.join(host_);
  ContextObject& context = *stream.context;
  if (&stream == &context.legacy)
    join_streams(point, context, true);
  else if (stream.blocking)
    point.join(context.legacy.end);
  std::erase_if(point.tails, [&](std::uint64_t id) { return !queue_.pending(id); });
  return point;
}

Point World::submit(ContextObject& context, const Point& before, StreamObject& stream, std::size_t branch,
                    Work work) {
  Operation operation;
  operation.id = ++operations_;
  operation.context = &context;
  operation.work = std::move(work);
  if (auto* const kernel = std::get_if<KernelRun>(&operation.work)) kernel->launch.operation = operation.id;
  if (context.poison != 0) return before;
  if (immediate()) {
    if (context.shadow) operation.what = described(operation.work, stream);
    queue_.submit(std::move(operation));
    return {};
  }
  operation.what = described(operation.work, stream);
  operation.waits = before.tails;
  if (checking()) {
    operation.clock = before.clock;
    operation.clock.add(timelines_.next(timeline(stream, branch), operation.id));
  }
  if (std::holds_alternative<Copy>(operation.work)) {
    std::vector<Finding> found;
    HostUses::Ended ended;
    if (checking()) ended = [&](std::uint64_t id, const Clock& clock) { return timelines_.ended(id, clock); };
    prune();
    host_uses_.enqueued(operation, ended, found);
    note(context, found);
    if (!found.empty()) return before;
  }
  Point after{{operation.id}, operation.clock};
  queue_.submit(std::move(operation));
  return after;
}

void World::enqueue(StreamObject& stream, Work work) {
  stream.end = submit(*stream.context, before(stream), stream, 0, std::move(work));
}

/// A copy's host memory is the host's again when the host knows that the copy ended.
void World::prune() {
  host_uses_.prune(
      [&](std::uint64_t id) { return !queue_.pending(id) && (!checking() || timelines_.ended(id, host_)); });
}

void World::finish(const Point& point) {
  queue_.finish(point.tails);
  host_.join(point.clock);
}

bool World::ended(const Point& point) {
  if (queue_.pending(point.tails)) {
    queue_.advance(point.tails);
    return false;
  }
  host_.join(point.clock);
  return true;
}

void World::finish(ContextObject& context) {
  Point point = context.legacy.end;
  point.join(context.loose);
  join_streams(point, context, false);
  finish(point);
  context.loose.tails.clear();
}

void World::execute(const Operation& operation) {
  ContextObject& context = *operation.context;
  if (context.poison != 0) return;
  std::vector<Finding> found;
  running_ = checking() ? &operation.clock : nullptr;
  try {
    std::visit(Overloaded{[&](const std::shared_ptr<Mark>& mark) {
                            mark->done = true;
                            mark->time = std::chrono::steady_clock::now();
                          },
                          [&](const auto& work) { run(operation, work, found); }},
               operation.work);
  } catch (const std::exception& error) {
    found.push_back(
        {fmt::format("operation {} ({}): {}", operation.id, operation.what, error.what()), launch_failed});
  }
  running_ = nullptr;
  note(context, found);
}

void World::wrote(const Operation& operation, std::uint64_t to, std::size_t bytes,
                  std::vector<Finding>& found) {
  const Allocation* const allocation = memory_.covering(to, bytes);
  if (allocation == nullptr)
    found.push_back({fmt::format("operation {} ({}) writes {} bytes at {:#x}, which are not allocated",
                                 operation.id, operation.what, bytes, to),
                     illegal_address});
  else if (allocation->owner->shadow)
    allocation->owner->shadow->wrote(to, bytes, operation.id, operation.what, found);
}

void World::read(const Operation& operation, std::uint64_t from, std::size_t bytes,
                 std::vector<Finding>& found) {
  const Allocation* const allocation = memory_.covering(from, bytes);
  if (allocation == nullptr)
    found.push_back({fmt::format("operation {} ({}) reads {} bytes at {:#x}, which are not allocated",
                                 operation.id, operation.what, bytes, from),
                     illegal_address});
  else if (allocation->owner->shadow)
    allocation->owner->shadow->read(from, bytes, operation.id, operation.what, found);
}

void World::run(const Operation& operation, const Copy& copy, std::vector<Finding>& found) {
  if (copy.kind == Copy::Kind::to_device) return to_device(operation, copy, found);
  if (copy.kind == Copy::Kind::to_host) return to_host(operation, copy, found);
  read(operation, copy.from, copy.bytes, found);
  wrote(operation, copy.to, copy.bytes, found);
  if (found.empty()) std::memmove(pointer(copy.to), pointer(copy.from), copy.bytes);
}

void World::to_device(const Operation& operation, const Copy& copy, std::vector<Finding>& found) {
  wrote(operation, copy.to, copy.bytes, found);
  if (!found.empty()) return;
  if (immediate()) {
    std::memcpy(pointer(copy.to), pointer(copy.from), copy.bytes);
    return;
  }
  if (copy_if_mapped(pointer(copy.to), pointer(copy.from), copy.bytes) < copy.bytes)
    found.push_back({fmt::format("the source of operation {} ({}) at {:#x} is gone: it was freed before the "
                                 "copy had ended",
                                 operation.id, operation.what, copy.from),
                     launch_failed});
  else
    host_uses_.after_reading(operation, pointer(copy.to), found);
}

void World::to_host(const Operation& operation, const Copy& copy, std::vector<Finding>& found) {
  read(operation, copy.from, copy.bytes, found);
  if (!found.empty()) return;
  if (immediate()) {
    std::memcpy(pointer(copy.to), pointer(copy.from), copy.bytes);
    return;
  }
  std::vector<std::byte> now(copy.bytes);
  const bool there = copy_if_mapped(now.data(), pointer(copy.to), copy.bytes) == copy.bytes;
  if (there) host_uses_.before_writing(operation, now.data(), found);
  if (!there || copy_if_mapped(pointer(copy.to), pointer(copy.from), copy.bytes) < copy.bytes)
    found.push_back({fmt::format("the destination of operation {} ({}) at {:#x} is gone: it was freed before "
                                 "the copy had ended",
                                 operation.id, operation.what, copy.to),
                     launch_failed});
}

void World::run(const Operation& operation, const Fill& fill, std::vector<Finding>& found) {
  wrote(operation, fill.to, fill.bytes, found);
  if (found.empty()) std::memset(pointer(fill.to), fill.value, fill.bytes);
}

void World::run(const Operation& operation, const KernelRun& kernel, std::vector<Finding>& found) {
  Shadow* const shadow = operation.context->shadow.get();
  if (shadow != nullptr) shadow->label(operation.id, operation.what);
  RunOptions options;
  options.mode = queue_.mode();
  options.seed = mixed(configuration.seed, operation.id);
  options.shadow = shadow;
  options.counters = &counters[kernel.launch.kernel->name];
  options.count_sectors = count_sectors_;
  // Isolated: a task of the caller's must not begin on this thread, which holds the driver.
  tbb::this_task_arena::isolate([&] { sim::run(kernel.launch, options, found); });
}

}  // namespace ondula::sim::driver
