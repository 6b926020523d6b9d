// Records operations as nodes, and enqueues nodes.
// SPDX-License-Identifier: MIT
#include "runtime/device/sim/driver_capture.hpp"

#include <algorithm>
#include <set>

namespace ondula::sim::driver {
namespace {

[[noreturn]] void refuse(cuda::Result result) { throw Refusal{result}; }

/// The stream's capture, still valid.
Capture& valid_capture(const StreamObject& stream) {
  if (!stream.capture->valid) refuse(cuda::result::stream_capture_invalidated);
  return *stream.capture;
}

void merge(std::vector<std::size_t>& front, const std::vector<std::size_t>& other) {
  front.insert(front.end(), other.begin(), other.end());
  std::sort(front.begin(), front.end());
  front.erase(std::unique(front.begin(), front.end()), front.end());
}

/// Whether everything captured is before the front.
bool joined(const Capture& capture, const std::vector<std::size_t>& front) {
  std::vector<bool> before(capture.nodes.size(), false);
  for (const std::size_t node : front) before[node] = true;
  for (std::size_t node = capture.nodes.size(); node-- > 0;) {
    if (!before[node]) return false;
    for (const std::size_t earlier : capture.nodes[node].follows) before[earlier] = true;
  }
  return true;
}

void close(World& world, const std::shared_ptr<Capture>& capture) {
  capture->active = false;
  std::erase(world.captures, capture);
}

}  // namespace

bool capturing(const StreamObject& stream) { return stream.capture != nullptr && stream.capture->active; }

bool captured(const EventObject& event) { return event.capture != nullptr; }

void begin_capture(World& world, cuda::Stream handle, StreamObject& stream, int mode) {
  if (mode < capture_mode::global || mode > capture_mode::relaxed) refuse(cuda::result::invalid_value);
  if (world.streams.find(handle) != &stream) refuse(cuda::result::stream_capture_unsupported);
  if (capturing(stream)) refuse(capture_result::illegal_state);
  stream.capture = std::make_shared<Capture>();
  stream.capture->origin = handle;
  stream.capture->mode = mode;
  stream.capture->thread = std::this_thread::get_id();
  stream.front.clear();
  world.captures.push_back(stream.capture);
}

std::shared_ptr<const std::vector<Node>> end_capture(World& world, cuda::Stream handle,
                                                     StreamObject& stream) {
  if (!capturing(stream)) refuse(capture_result::illegal_state);
  const std::shared_ptr<Capture> capture = stream.capture;
  if (capture->origin != handle) {
    capture->valid = false;
    refuse(capture_result::unmatched);
  }
  if (capture->mode != capture_mode::relaxed && capture->thread != std::this_thread::get_id())
    refuse(capture_result::wrong_thread);
  close(world, capture);
  if (!capture->valid) refuse(cuda::result::stream_capture_invalidated);
  if (!joined(*capture, stream.front)) refuse(capture_result::unjoined);
  return std::make_shared<const std::vector<Node>>(std::move(capture->nodes));
}

void capture(StreamObject& stream, Work work, cuda::Function function) {
  Capture& into = valid_capture(stream);
  into.nodes.push_back({std::move(work), function, stream.context->handle, stream.front});
  stream.front = {into.nodes.size() - 1};
}

void capture(StreamObject& stream, const std::vector<Node>& nodes) {
  Capture& into = valid_capture(stream);
  const std::size_t first = into.nodes.size();
  std::vector<bool> followed(nodes.size(), false);
  for (Node node : nodes) {
    for (std::size_t& earlier : node.follows) {
      followed[earlier] = true;
      earlier += first;
    }
    if (node.follows.empty()) node.follows = stream.front;
    into.nodes.push_back(std::move(node));
  }
  if (!nodes.empty()) stream.front.clear();
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (!followed[i]) stream.front.push_back(first + i);
  }
}

void capture_record(StreamObject& stream, EventObject& event) {
  valid_capture(stream);
  event.capture = stream.capture;
  event.front = stream.front;
}

void capture_wait(const World& world, StreamObject& stream, EventObject& event) {
  if (!captured(event)) {
    valid_capture(stream);
    if (event.mark == nullptr) return;  // never recorded
    stream.capture->valid = false;
    refuse(capture_result::isolation);
  }
  if (!event.capture->active) refuse(capture_result::captured_event);
  if (!event.capture->valid) refuse(cuda::result::stream_capture_invalidated);
  if (capturing(stream)) {
    if (stream.capture != event.capture) {
      stream.capture->valid = event.capture->valid = false;
      refuse(capture_result::merge);
    }
    merge(stream.front, event.front);
    return;
  }
  bool created = false;
  world.streams.each([&](const StreamObject& each) { created = created || &each == &stream; });
  if (!created) {
    event.capture->valid = false;
    refuse(capture_result::implicit);
  }
  stream.capture = event.capture;
  stream.front = event.front;
}

void refuse_captured(const StreamObject& stream) {
  if (!capturing(stream)) return;
  stream.capture->valid = false;
  refuse(cuda::result::stream_capture_unsupported);
}

void refuse_while_capturing(World& world, const ContextObject& context) {
  bool found = false;
  world.streams.each([&](const StreamObject& stream) {
    if (stream.context != &context || !capturing(stream)) return;
    stream.capture->valid = false;
    found = true;
  });
  if (found) refuse(cuda::result::stream_capture_unsupported);
}

void refuse_unsafe(World& world) {
  bool found = false;
  for (const std::shared_ptr<Capture>& capture : world.captures) {
    const bool mine = capture->thread == std::this_thread::get_id();
    if (capture->mode == capture_mode::relaxed || (capture->mode != capture_mode::global && !mine)) continue;
    capture->valid = false;
    found = true;
  }
  if (found) refuse(cuda::result::stream_capture_unsupported);
}

void refuse_implicit(World& world, const StreamObject& stream) {
  if (&stream != &stream.context->legacy) return;
  bool found = false;
  world.streams.each([&](const StreamObject& each) {
    if (each.context != stream.context || !each.blocking || !capturing(each)) return;
    each.capture->valid = false;
    found = true;
  });
  if (found) refuse(capture_result::implicit);
}

std::unique_ptr<ExecObject> instantiate(const GraphObject& graph) {
  auto exec = std::make_unique<ExecObject>();
  exec->context = graph.context;
  exec->nodes = graph.nodes;
  std::vector<std::size_t> last;  // node, by branch
  for (std::size_t i = 0; i < graph.nodes->size(); ++i) {
    std::size_t branch = last.size();
    for (const std::size_t earlier : (*graph.nodes)[i].follows) {
      if (last[exec->branch[earlier]] == earlier) branch = std::min(branch, exec->branch[earlier]);
    }
    if (branch == last.size()) last.push_back(i);
    last[branch] = i;
    exec->branch.push_back(branch);
  }
  return exec;
}

void launch(World& world, ExecObject& exec, StreamObject& stream) {
  const std::vector<Node>& nodes = *exec.nodes;
  std::vector<ContextObject*> contexts;
  for (const Node& node : nodes) {
    contexts.push_back(world.contexts.find(node.context));
    const bool loaded = node.function == nullptr || world.functions.find(node.function) != nullptr;
    if (contexts.back() == nullptr || !loaded) refuse(cuda::result::invalid_handle);
  }
  if (world.immediate()) {
    for (std::size_t i = 0; i < nodes.size(); ++i) world.submit(*contexts[i], {}, stream, 0, nodes[i].work);
    return;
  }
  Point start = world.before(stream);
  start.join(exec.end);
  std::vector<Point> after;
  std::set<std::size_t> ends;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    Point before = start;
    for (const std::size_t earlier : nodes[i].follows) {
      before.join(after[earlier]);
      ends.erase(earlier);
    }
    after.push_back(world.submit(*contexts[i], before, stream, exec.branch[i], nodes[i].work));
    ends.insert(i);
  }
  Point end;
  for (const std::size_t node : ends) end.join(after[node]);
  if (nodes.empty()) end = start;
  stream.end = exec.end = end;
}

}  // namespace ondula::sim::driver
