// What the driver's handles stand for: contexts, streams, events, modules, functions, graphs.
// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "runtime/device/cuda/driver.hpp"
#include "runtime/device/sim/driver_clock.hpp"
#include "runtime/device/sim/executor.hpp"
#include "runtime/device/sim/shadow.hpp"

namespace ondula::sim::driver {

struct ContextObject;
struct Capture;

/// Everything enqueued before some point of a stream.
struct Point {
  std::vector<std::uint64_t> tails;  ///< the operations after which all of it has ended
  Clock clock;

  void join(const Point& other);
};

/// When an event's operation ran.
struct Mark {
  bool done = false;
  std::chrono::steady_clock::time_point time;
};

/// Bytes from one place to another.
struct Copy {
  enum class Kind { to_device, to_host, on_device };
  Kind kind = Kind::on_device;
  std::uint64_t to = 0;
  std::uint64_t from = 0;
  std::size_t bytes = 0;
};

/// Bytes of one value.
struct Fill {
  std::uint64_t to = 0;
  unsigned char value = 0;
  std::size_t bytes = 0;
};

/// A kernel's launch; the program is kept while it is pending or in a graph.
struct KernelRun {
  std::shared_ptr<Program> program;
  Launch launch;
};

/// What an operation does.
using Work = std::variant<Copy, Fill, KernelRun, std::shared_ptr<Mark>>;

/// A stream: in order, and with the stream 0 of its context unless it is non-blocking.
struct StreamObject {
  ContextObject* context = nullptr;
  bool blocking = true;
  std::uint64_t number = 0;          ///< in findings; 0 is the context's own
  Point end;                         ///< everything enqueued so far
  std::vector<Timeline> timelines;   ///< its own first, then those of its graphs' branches
  std::shared_ptr<Capture> capture;  ///< where it is being captured
  std::vector<std::size_t> front;    ///< the captured nodes that the next one follows
};

/// An event and what it last recorded.
struct EventObject {
  ContextObject* context = nullptr;
  bool timing = true;
  std::shared_ptr<Mark> mark;  ///< null before the first record
  Point point;
  std::shared_ptr<Capture> capture;  ///< where it was recorded while being captured
  std::vector<std::size_t> front;
};

/// A loaded binary and the functions asked of it.
struct ModuleObject {
  ContextObject* context = nullptr;
  std::shared_ptr<Program> program;
  std::map<std::string, cuda::Function> functions;
};

struct FunctionObject {
  ContextObject* context = nullptr;
  std::shared_ptr<Program> program;
  const Kernel* kernel = nullptr;
  std::size_t dynamic_shared = 0;  ///< bytes that a launch may ask for
};

/// An operation of a graph.
struct Node {
  Work work;
  cuda::Function function = nullptr;  ///< of a kernel; it and the context must exist when it is launched
  cuda::Context context = nullptr;
  std::vector<std::size_t> follows;  ///< earlier nodes
};

/// A capture in progress, or ended.
struct Capture {
  cuda::Stream origin = nullptr;
  int mode = 0;
  std::thread::id thread;
  bool active = true;
  bool valid = true;
  std::vector<Node> nodes;
};

struct GraphObject {
  ContextObject* context = nullptr;  ///< whose stream was captured
  std::shared_ptr<const std::vector<Node>> nodes;
};

struct ExecObject {
  ContextObject* context = nullptr;
  std::shared_ptr<const std::vector<Node>> nodes;
  std::vector<std::size_t> branch;  ///< of each node: nodes of one branch follow one another
  std::size_t branches = 0;
  Point end;  ///< of its last launch, which the next one follows
};

/// A context: what makes it unusable, its stream 0, the shadow of its memory in check mode.
struct ContextObject {
  cuda::Context handle = nullptr;
  int device = 0;
  unsigned references = 0;  ///< of a primary context; 0 for another
  cuda::Result poison = 0;  ///< what every call returns from now on
  StreamObject legacy;
  Point loose;  ///< work of streams that are no more
  std::map<std::thread::id, std::unique_ptr<StreamObject>> per_thread;
  std::unique_ptr<Shadow> shadow;
};

/// Objects by handle. A handle is never used again and points to nothing that can be read.
template <class Handle, class Object>
class Table {
 public:
  explicit Table(std::uint64_t kind) : next_((std::uint64_t{0xC0DA} << 48) | (kind << 40)) {}

  Handle add(std::unique_ptr<Object> object) {
    next_ += 16;
    objects_.emplace(next_, std::move(object));
    return reinterpret_cast<Handle>(next_);
  }
  Object* find(Handle handle) const {
    const auto at = objects_.find(reinterpret_cast<std::uint64_t>(handle));
    return at == objects_.end() ? nullptr : at->second.get();
  }
  void erase(Handle handle) { objects_.erase(reinterpret_cast<std::uint64_t>(handle)); }
  /// Those of a context, all kinds of objects having one.
  std::vector<Handle> of(const ContextObject* context) const {
    std::vector<Handle> handles;
    for (const auto& [value, object] : objects_) {
      if (object->context == context) handles.push_back(reinterpret_cast<Handle>(value));
    }
    return handles;
  }
  template <class Body>
  void each(const Body& body) const {
    for (const auto& [value, object] : objects_) body(*object);
  }
  std::size_t size() const { return objects_.size(); }
  void clear() { objects_.clear(); }

 private:
  std::uint64_t next_;
  std::map<std::uint64_t, std::unique_ptr<Object>> objects_;
};

}  // namespace ondula::sim::driver
