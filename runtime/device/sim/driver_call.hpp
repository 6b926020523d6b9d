// What every entry point of the stand-in driver does first: planned faults, initialisation, the context.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "runtime/device/sim/driver_world.hpp"

namespace ondula::sim::driver {

/// What the process has of the driver. It is never destroyed: others may call at their very end.
struct Process {
  std::mutex mutex;  ///< held by every call
  std::unique_ptr<World> world;
  std::uint64_t resets = 0;

  static Process& get();
  bool sound = true;  ///< the environment's variables all have a meaning
  /// The world, made by the environment at the first call. Call with the mutex held.
  World& here();
};

/// The calling thread's contexts, the current one last. Call with the mutex held.
std::vector<cuda::Context>& context_stack();

/// The current context; Refusal invalid_context without one, 709 where it was destroyed.
ContextObject& current_context(World& world);

/// The object of a handle. Throws Refusal invalid_handle for a null or stale one.
template <class Handle, class Object>
Object& object(const Table<Handle, Object>& table, Handle handle) {
  Object* const found = table.find(handle);
  if (found == nullptr) throw Refusal{cuda::result::invalid_handle};
  return *found;
}

/// The same, of the context `context`; Refusal invalid_context for another's.
template <class Handle, class Object>
Object& object(const Table<Handle, Object>& table, Handle handle, const ContextObject& context) {
  Object& found = object(table, handle);
  if (found.context != &context) throw Refusal{cuda::result::invalid_context};
  return found;
}

/// The stream of a handle, also one of the special values (0 and 1: the context's own; 2: the thread's).
/// Throws Refusal invalid_handle for a stale one, invalid_context for another context's.
StreamObject& stream_of(World& world, ContextObject& context, cuda::Stream handle);

/// Throws Refusal invalid_value unless it holds.
inline void require(bool holds) {
  if (!holds) throw Refusal{cuda::result::invalid_value};
}

/// Runs `body`, which may throw Refusal; what else is thrown is noted and gives `unknown`.
template <class Body>
cuda::Result guarded(World& world, const Body& body) {
  try {
    body();
    return cuda::result::success;
  } catch (const Refusal& refusal) {
    return refusal.result;
  } catch (const std::exception& error) {
    world.explain(cuda::result::unknown, error.what());
    return cuda::result::unknown;
  }
}

/// How a call stands to errors of its context.
enum class Kind {
  plain,
  releases  ///< it destroys what it names, whatever it returns
};

/// Runs `body(world, planned fault)` for the call `name`, alone.
template <class Body>
cuda::Result counted_call(const char* name, bool counted, const Body& body) {
  Process& process = Process::get();
  const std::lock_guard lock(process.mutex);
  World& world = process.here();
  return body(world, world.faults.call(name, counted));
}

/// A call that needs no context: `body(world)`, if `initialized` only after cuInit.
template <class Body>
cuda::Result driver_call(const char* name, bool initialized, const Body& body) {
  return counted_call(name, true, [&](World& world, cuda::Result planned) {
    if (initialized && !world.initialized) return cuda::result::not_initialized;
    if (planned != 0) return planned;
    return guarded(world, [&] { body(world); });
  });
}

/// A call in the current context: `body(world, context)`. In a poisoned context it returns what poisoned it,
/// also where it was this call that did.
template <class Body>
cuda::Result context_call(const char* name, Kind kind, const Body& body) {
  return counted_call(name, true, [&](World& world, cuda::Result planned) {
    if (!world.initialized) return cuda::result::not_initialized;
    ContextObject* context = nullptr;
    const cuda::Result none = guarded(world, [&] { context = &current_context(world); });
    if (none != 0) return planned != 0 ? planned : none;
    if (sticky(planned)) world.poison(*context, planned);
    const cuda::Result before = context->poison != 0 ? context->poison : planned;
    if (before != 0 && kind == Kind::plain) return before;
    const cuda::Result result = guarded(world, [&] { body(world, *context); });
    if (before != 0) return before;
    return context->poison != 0 ? context->poison : result;
  });
}

}  // namespace ondula::sim::driver
