// A session on one CUDA device: the primary context held, calls checked, and what owns a driver's handle.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "runtime/device/cuda/errors.hpp"
#include "runtime/device/cuda/library.hpp"

namespace ondula::cuda {

/// What the driver tells of device `number`. Throws UserError where there is none, listing those there are.
const DeviceFacts& require_device(const Driver& driver, int number);

/// One device's primary context, retained while this lives, or a context of the caller's. After an error that
/// loses the context the session is dead: the context is let go at once, every later call throws without
/// touching the driver, and handles are dropped. Not for two threads at once; sessions of several threads are
/// independent.
class Session {
 public:
  /// `given`: the caller's context, which is neither retained nor given back; null: the primary one. Throws
  /// UserError where there is no device `number`, or `given` is none of its contexts, DeviceError where the
  /// device cannot be had.
  Session(std::shared_ptr<const Driver> driver, int number, Context given = nullptr);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// Calls an entry point, checked. The context must be current (Scope). Throws DeviceError.
  template <class Signature, class... A>
  void call(const Entry<Signature>& entry, A... arguments) {
    require_alive();
    const Result result = entry.function(arguments...);
    if (result != result::success) fail(result, entry.name, joined(arguments...));
  }

  /// The same, giving back `expected` instead of throwing where that is what comes.
  template <class Signature, class... A>
  Result try_call(Result expected, const Entry<Signature>& entry, A... arguments) {
    require_alive();
    const Result result = entry.function(arguments...);
    if (result != result::success && result != expected) fail(result, entry.name, joined(arguments...));
    return result;
  }

  /// Calls an entry point that gives something back; nothing where the session is dead. Never throws: an
  /// error that loses the context is remembered, any other one dropped.
  template <class Signature, class... A>
  void dispose(const Entry<Signature>& entry, A... arguments) noexcept {
    if (!push()) return;
    const Result result = entry.function(arguments...);
    pop();
    if (is_sticky(result)) lose(result, entry, arguments...);
  }

  bool alive() const noexcept { return context_ != nullptr; }
  /// Alive, and no call has failed that was not allowed to.
  bool sound() const noexcept { return alive() && !failed_; }
  const Driver& driver() const noexcept { return *driver_; }
  const Functions& functions() const noexcept { return driver_->functions(); }
  int number() const noexcept { return number_; }
  /// Throws UserError where `stream` is of another context. The context must be current.
  void require_stream(Stream stream);
  const DeviceFacts& facts() const;

 private:
  friend class Scope;
  template <class... A>
  static std::string joined(const A&... arguments) {
    std::string text;
    ((text += (text.empty() ? "" : ", ") + any_argument_text(arguments)), ...);
    return text;
  }
  void require_alive() const;
  [[noreturn]] void fail(Result result, const char* call, const std::string& arguments);
  /// The context is lost for good; `reason` is what later calls say.
  void abandon(const std::string& reason) noexcept;
  template <class Signature, class... A>
  void lose(Result result, const Entry<Signature>& entry, const A&... arguments) noexcept {
    try {
      abandon(failure_text(*driver_, result, entry.name, joined(arguments...)));
    } catch (...) {  // no memory for the reason
      abandon({});
    }
  }
  /// Takes the caller's context, after a look at whose it is. Throws UserError where it is none of the
  /// device's.
  void adopt(Context given);
  /// Makes the context current, for dispose(): false where that cannot be, or the session is dead.
  bool push() noexcept;
  void pop() noexcept;

  std::shared_ptr<const Driver> driver_;
  int number_;
  DeviceNumber device_ = 0;
  bool given_ = false;  ///< the context is the caller's
  Context context_ = nullptr;
  int depth_ = 0;  ///< how often it has been pushed by now
  bool failed_ = false;
  std::string lost_;  ///< why the session is dead
};

/// While this lives the session's context is current to the thread; afterwards the caller's again.
class Scope {
 public:
  /// Throws DeviceError where the session is dead or the context cannot be made current.
  explicit Scope(Session& session);
  ~Scope();
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

 private:
  Session& session_;
};

/// Owns one of the driver's handles. `Destroy` is the entry point that gives it back.
template <class Handle, auto Destroy>
class Owned {
 public:
  Owned() = default;
  Owned(std::shared_ptr<Session> session, Handle handle) : session_(std::move(session)), handle_(handle) {}
  Owned(Owned&& other) noexcept { swap(other); }
  Owned& operator=(Owned&& other) noexcept {
    Owned taken(std::move(other));
    swap(taken);
    return *this;
  }
  ~Owned() {
    if (session_ && handle_ != Handle{}) session_->dispose(session_->functions().*Destroy, handle_);
  }
  Handle get() const { return handle_; }
  explicit operator bool() const { return handle_ != Handle{}; }

 private:
  void swap(Owned& other) noexcept {
    std::swap(session_, other.session_);
    std::swap(handle_, other.handle_);
  }
  std::shared_ptr<Session> session_;
  Handle handle_{};
};

using OwnedStream = Owned<Stream, &Functions::stream_destroy>;
using OwnedEvent = Owned<Event, &Functions::event_destroy>;
using OwnedModule = Owned<Module, &Functions::module_unload>;
using OwnedGraph = Owned<Graph, &Functions::graph_destroy>;
using OwnedGraphExec = Owned<GraphExec, &Functions::graph_exec_destroy>;
using OwnedMemory = Owned<DevicePointer, &Functions::free>;
using OwnedPinned = Owned<void*, &Functions::host_free>;

/// All need the context current and throw DeviceError.
OwnedStream make_stream(const std::shared_ptr<Session>& session);
OwnedEvent make_event(const std::shared_ptr<Session>& session);
OwnedPinned make_pinned(const std::shared_ptr<Session>& session, std::size_t bytes);

}  // namespace ondula::cuda
