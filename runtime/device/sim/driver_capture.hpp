// Streams that record instead of run: captures, and the graphs they become.
// SPDX-License-Identifier: MIT
#pragma once

#include <memory>

#include "runtime/device/sim/driver_world.hpp"

namespace ondula::sim::driver {

/// CUresult of capturing that nothing but the stand-in tells apart.
namespace capture_result {
inline constexpr cuda::Result illegal_state = 401, merge = 902, unmatched = 903, unjoined = 904,
                              isolation = 905, implicit = 906, captured_event = 907, wrong_thread = 908;
}  // namespace capture_result

/// CUstreamCaptureMode.
namespace capture_mode {
inline constexpr int global = 0, thread_local_mode = 1, relaxed = 2;
}  // namespace capture_mode

/// Begins to capture. Refuses the context's own stream and one that is being captured.
void begin_capture(World& world, cuda::Stream handle, StreamObject& stream, int mode);
/// Ends it: the nodes. Refuses, the capture having ended all the same, what was invalidated, forked and not
/// joined, or begun elsewhere.
std::shared_ptr<const std::vector<Node>> end_capture(World& world, cuda::Stream handle, StreamObject& stream);

/// Adds a node to the stream's capture, which must be valid; `function` is a kernel's.
void capture(StreamObject& stream, Work work, cuda::Function function = nullptr);
/// Adds a whole graph's nodes.
void capture(StreamObject& stream, const std::vector<Node>& nodes);
/// An event recorded in a stream that is being captured.
void capture_record(StreamObject& stream, EventObject& event);
/// A stream waits for an event, one of which is of a capture. The stream joins the event's capture.
void capture_wait(const World& world, StreamObject& stream, EventObject& event);

/// True while it is being captured.
bool capturing(const StreamObject& stream);
/// True where the event was last recorded in a stream that was being captured.
bool captured(const EventObject& event);

/// For calls that wait for, or ask of, a stream: refuses one that is being captured, whose capture is lost.
void refuse_captured(const StreamObject& stream);
/// For calls that wait for a whole context: refuses while any of its streams is being captured.
void refuse_while_capturing(World& world, const ContextObject& context);
/// For calls that may not be made between the begin and the end of a capture, by its thread or, where its
/// mode says so, by any: allocation, freeing, loading, waiting.
void refuse_unsafe(World& world);
/// For work on a context's own stream, for which blocking streams wait: refuses while one is being captured.
void refuse_implicit(World& world, const StreamObject& stream);

/// Splits the nodes into branches, each a chain of nodes of which one follows the other.
std::unique_ptr<ExecObject> instantiate(const GraphObject& graph);
/// Enqueues the nodes. Refuses a graph of kernels that were unloaded.
void launch(World& world, ExecObject& exec, StreamObject& stream);

}  // namespace ondula::sim::driver
