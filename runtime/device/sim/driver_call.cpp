// The process's driver, and each thread's stack of contexts.
// SPDX-License-Identifier: MIT
#include "runtime/device/sim/driver_call.hpp"

#include "compiler/error.hpp"

namespace ondula::sim::driver {
namespace {

constexpr cuda::Result context_is_destroyed = 709;

/// A thread's contexts, of a driver that was reset so many times before.
struct Stack {
  std::uint64_t resets = 0;
  std::vector<cuda::Context> contexts;
};

}  // namespace

Process& Process::get() {
  static Process* const process = new Process;
  return *process;
}

World& Process::here() {
  if (world) return *world;
  try {
    world = std::make_unique<World>(configuration_of_environment());
    sound = true;
  } catch (const UserError& error) {
    world = std::make_unique<World>(Configuration{});
    world->explain(cuda::result::invalid_value, error.what());
    sound = false;  // cuInit says so
  }
  return *world;
}

std::vector<cuda::Context>& context_stack() {
  thread_local Stack stack;
  if (stack.resets != Process::get().resets) {
    stack.resets = Process::get().resets;
    stack.contexts.clear();
  }
  return stack.contexts;
}

ContextObject& current_context(World& world) {
  const std::vector<cuda::Context>& stack = context_stack();
  if (stack.empty() || stack.back() == nullptr) throw Refusal{cuda::result::invalid_context};
  ContextObject* const context = world.contexts.find(stack.back());
  if (context == nullptr) throw Refusal{context_is_destroyed};
  return *context;
}

StreamObject& stream_of(World& world, ContextObject& context, cuda::Stream handle) {
  constexpr std::uint64_t legacy = 1, per_thread = 2;
  const auto value = reinterpret_cast<std::uint64_t>(handle);
  if (value <= legacy) return context.legacy;
  if (value != per_thread) return object(world.streams, handle, context);
  std::unique_ptr<StreamObject>& stream = context.per_thread[std::this_thread::get_id()];
  if (!stream) {
    stream = std::make_unique<StreamObject>();
    stream->context = &context;
    stream->number = ++world.streams_made;
  }
  return *stream;
}

}  // namespace ondula::sim::driver
