// Entry points: streams, events, captures and graphs.
// SPDX-License-Identifier: MIT
#include <chrono>

#include "runtime/device/sim/driver_call.hpp"
#include "runtime/device/sim/driver_capture.hpp"
#include "runtime/device/sim/driver_entries.hpp"

namespace ondula::sim::driver {
namespace {

/// An event that can be asked or waited for by the host.
EventObject& event_to_wait_for(World& world, cuda::Event handle) {
  EventObject& event = object(world.events, handle);
  if (captured(event)) {
    event.capture->valid = false;
    throw Refusal{capture_result::captured_event};
  }
  refuse_unsafe(world);
  return event;
}

/// What an event's context suffered from what it waits for.
void require_sound(const EventObject& event) {
  if (event.context->poison != 0) throw Refusal{event.context->poison};
}

}  // namespace
}  // namespace ondula::sim::driver

using namespace ondula;               // NOLINT: what follows belongs to no namespace
using namespace ondula::sim::driver;  // NOLINT

cuda::Result cuStreamCreate(cuda::Stream* handle, unsigned flags) {
  return context_call("cuStreamCreate", Kind::plain, [&](World& world, ContextObject& context) {
    require(handle != nullptr && (flags & ~cuda::stream_non_blocking) == 0);
    auto stream = std::make_unique<StreamObject>();
    stream->context = &context;
    stream->blocking = flags != cuda::stream_non_blocking;
    stream->number = ++world.streams_made;
    *handle = world.streams.add(std::move(stream));
  });
}

// What is enqueued still runs, as on a device; nothing can wait for it by this stream any more.
cuda::Result cuStreamDestroy_v2(cuda::Stream handle) {
  return context_call("cuStreamDestroy_v2", Kind::releases, [&](World& world, ContextObject& context) {
    StreamObject& stream = object(world.streams, handle, context);
    if (capturing(stream)) stream.capture->valid = false;
    context.loose.join(stream.end);
    world.streams.erase(handle);
  });
}

cuda::Result cuStreamSynchronize(cuda::Stream handle) {
  return context_call("cuStreamSynchronize", Kind::plain, [&](World& world, ContextObject& context) {
    const StreamObject& stream = stream_of(world, context, handle);
    refuse_captured(stream);
    refuse_implicit(world, stream);
    refuse_unsafe(world);
    world.finish(world.before(stream));
  });
}

cuda::Result cuStreamQuery(cuda::Stream handle) {
  return context_call("cuStreamQuery", Kind::plain, [&](World& world, ContextObject& context) {
    const StreamObject& stream = stream_of(world, context, handle);
    refuse_captured(stream);
    refuse_implicit(world, stream);
    refuse_unsafe(world);
    if (!world.ended(world.before(stream))) throw Refusal{cuda::result::not_ready};
  });
}

cuda::Result cuStreamGetCtx(cuda::Stream handle, cuda::Context* context_handle) {
  return context_call("cuStreamGetCtx", Kind::plain, [&](World& world, ContextObject& context) {
    require(context_handle != nullptr);
    const StreamObject* const created = world.streams.find(handle);
    *context_handle = (created != nullptr ? *created : stream_of(world, context, handle)).context->handle;
  });
}

cuda::Result cuStreamWaitEvent(cuda::Stream handle, cuda::Event event_handle, unsigned flags) {
  return context_call("cuStreamWaitEvent", Kind::plain, [&](World& world, ContextObject& context) {
    StreamObject& stream = stream_of(world, context, handle);
    EventObject& event = object(world.events, event_handle);
    require(flags == 0);
    if (capturing(stream) || captured(event)) return capture_wait(world, stream, event);
    refuse_implicit(world, stream);
    stream.end.join(event.point);
  });
}

cuda::Result cuStreamBeginCapture_v2(cuda::Stream handle, int mode) {
  return context_call("cuStreamBeginCapture_v2", Kind::plain, [&](World& world, ContextObject& context) {
    begin_capture(world, handle, stream_of(world, context, handle), mode);
  });
}

// The capture has ended whatever comes back; a graph exists only with success.
cuda::Result cuStreamEndCapture(cuda::Stream handle, cuda::Graph* graph) {
  if (graph != nullptr) *graph = nullptr;
  const auto end = [&](World& world, ContextObject& context) {
    require(graph != nullptr);
    auto nodes = end_capture(world, handle, stream_of(world, context, handle));
    *graph = world.graphs.add(std::make_unique<GraphObject>(GraphObject{&context, std::move(nodes)}));
  };
  const cuda::Result result = context_call("cuStreamEndCapture", Kind::releases, end);
  if (result != cuda::result::success && graph != nullptr && *graph != nullptr) {
    const std::lock_guard lock(Process::get().mutex);
    Process::get().here().graphs.erase(*graph);
    *graph = nullptr;
  }
  return result;
}

cuda::Result cuStreamIsCapturing(cuda::Stream handle, int* status) {
  return context_call("cuStreamIsCapturing", Kind::plain, [&](World& world, ContextObject& context) {
    constexpr int none = 0, active = 1, invalidated = 2;
    require(status != nullptr);
    const StreamObject& stream = stream_of(world, context, handle);
    *status = !capturing(stream) ? none : stream.capture->valid ? active : invalidated;
  });
}

cuda::Result cuEventCreate(cuda::Event* handle, unsigned flags) {
  return context_call("cuEventCreate", Kind::plain, [&](World& world, ContextObject& context) {
    constexpr unsigned known = 3;  // blocking synchronisation, no timing
    require(handle != nullptr && (flags & ~known) == 0);
    auto event = std::make_unique<EventObject>();
    event->context = &context;
    event->timing = (flags & cuda::event_disable_timing) == 0;
    *handle = world.events.add(std::move(event));
  });
}

cuda::Result cuEventDestroy_v2(cuda::Event handle) {
  return context_call("cuEventDestroy_v2", Kind::releases, [&](World& world, ContextObject&) {
    object(world.events, handle);
    world.events.erase(handle);
  });
}

cuda::Result cuEventRecord(cuda::Event handle, cuda::Stream stream_handle) {
  return context_call("cuEventRecord", Kind::plain, [&](World& world, ContextObject& context) {
    EventObject& event = object(world.events, handle);
    StreamObject& stream = stream_of(world, context, stream_handle);
    if (event.context != stream.context) throw Refusal{cuda::result::invalid_handle};
    refuse_implicit(world, stream);
    if (capturing(stream)) return capture_record(stream, event);
    event.capture = nullptr;
    event.front.clear();
    event.mark = std::make_shared<Mark>();
    world.enqueue(stream, event.mark);
    event.point = stream.end;
  });
}

cuda::Result cuEventSynchronize(cuda::Event handle) {
  return context_call("cuEventSynchronize", Kind::plain, [&](World& world, ContextObject&) {
    const EventObject& event = event_to_wait_for(world, handle);
    world.finish(event.point);
    require_sound(event);
  });
}

cuda::Result cuEventQuery(cuda::Event handle) {
  return context_call("cuEventQuery", Kind::plain, [&](World& world, ContextObject&) {
    const EventObject& event = event_to_wait_for(world, handle);
    const bool ended = world.ended(event.point);
    require_sound(event);
    if (!ended) throw Refusal{cuda::result::not_ready};
  });
}

cuda::Result cuEventElapsedTime(float* milliseconds, cuda::Event from, cuda::Event to) {
  return context_call("cuEventElapsedTime", Kind::plain, [&](World& world, ContextObject&) {
    require(milliseconds != nullptr);
    const EventObject& first = object(world.events, from);
    const EventObject& last = object(world.events, to);
    if (!first.timing || !last.timing || first.mark == nullptr || last.mark == nullptr)
      throw Refusal{cuda::result::invalid_handle};
    if (!first.mark->done || !last.mark->done) throw Refusal{cuda::result::not_ready};
    *milliseconds = std::chrono::duration<float, std::milli>(last.mark->time - first.mark->time).count();
  });
}

cuda::Result cuGraphInstantiateWithFlags(cuda::GraphExec* exec, cuda::Graph graph, unsigned long long flags) {
  return context_call("cuGraphInstantiateWithFlags", Kind::plain, [&](World& world, ContextObject&) {
    require(exec != nullptr && flags == 0);
    *exec = world.execs.add(instantiate(object(world.graphs, graph)));
  });
}

cuda::Result cuGraphLaunch(cuda::GraphExec handle, cuda::Stream stream_handle) {
  return context_call("cuGraphLaunch", Kind::plain, [&](World& world, ContextObject& context) {
    StreamObject& stream = stream_of(world, context, stream_handle);
    ExecObject& exec = object(world.execs, handle);
    refuse_implicit(world, stream);
    if (capturing(stream)) return capture(stream, *exec.nodes);
    launch(world, exec, stream);
  });
}

// What was launched runs to its end; the operations keep what they need.
cuda::Result cuGraphExecDestroy(cuda::GraphExec handle) {
  return context_call("cuGraphExecDestroy", Kind::releases, [&](World& world, ContextObject&) {
    object(world.execs, handle);
    world.execs.erase(handle);
  });
}

cuda::Result cuGraphDestroy(cuda::Graph handle) {
  return context_call("cuGraphDestroy", Kind::releases, [&](World& world, ContextObject&) {
    object(world.graphs, handle);
    world.graphs.erase(handle);
  });
}
