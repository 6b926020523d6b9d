// Retaining and losing a device's primary context.
// SPDX-License-Identifier: MIT
#include "runtime/device/cuda/session.hpp"

#include <fmt/format.h>

#include <vector>

namespace ondula::cuda {

const DeviceFacts& require_device(const Driver& driver, int number) {
  const std::vector<DeviceFacts>& devices = driver.devices();
  if (number >= 0 && number < static_cast<int>(devices.size()))
    return devices[static_cast<std::size_t>(number)];
  std::string known;
  for (std::size_t d = 0; d < devices.size(); ++d)
    known += fmt::format("{}{} ({})", d == 0 ? "" : ", ", d, devices[d].name);
  throw UserError(fmt::format("there is no CUDA device {}; there are: {}", number, known));
}

Session::Session(std::shared_ptr<const Driver> driver, int number, Context given)
    : driver_(std::move(driver)), number_(number), given_(given != nullptr) {
  static_cast<void>(require_device(*driver_, number));
  const auto start = [&](const auto& entry, auto... arguments) {
    const Result result = entry.function(arguments...);
    if (result != result::success)
      throw DeviceError(failure_text(*driver_, result, entry.name, joined(arguments...)), entry.name, result);
  };
  start(functions().device_get, &device_, number);
  if (given_) {
    adopt(given);
    return;
  }
  Context context = nullptr;
  start(functions().primary_retain, &context, device_);
  context_ = context;
}

void Session::adopt(Context given) {
  const auto refuse = [&](const std::string& why) {
    throw UserError(fmt::format("the context that was given is none of CUDA device {} ({}): {}", number_,
                                facts().name, why));
  };
  const Result pushed = functions().context_push.function(given);
  if (is_sticky(pushed))
    throw DeviceError(failure_text(*driver_, pushed, functions().context_push.name, joined(given)),
                      functions().context_push.name, pushed);
  if (pushed != result::success)
    refuse(failure_text(*driver_, pushed, functions().context_push.name, joined(given)));
  DeviceNumber own = -1;
  const Result told = functions().context_device.function(&own);
  Context ignored = nullptr;
  functions().context_pop.function(&ignored);
  if (told != result::success)
    throw DeviceError(failure_text(*driver_, told, functions().context_device.name, ""),
                      functions().context_device.name, told);
  if (own != device_) refuse(fmt::format("it is of device {}", own));
  context_ = given;
}

void Session::require_stream(Stream stream) {
  Context of = nullptr;
  if (try_call(result::invalid_handle, functions().stream_context, stream, &of) == result::success &&
      of == context_)
    return;
  throw UserError(
      fmt::format("the stream that was given is none of the context that the run is in, {} of CUDA device {}",
                  given_ ? "the one given" : "the primary context", number_));
}

Session::~Session() {
  if (context_ != nullptr && !given_) functions().primary_release.function(device_);
}

const DeviceFacts& Session::facts() const { return driver_->devices()[static_cast<std::size_t>(number_)]; }

void Session::require_alive() const {
  if (alive()) return;
  throw DeviceError(
      fmt::format("CUDA device {} was lost to this run by an earlier error: {}", number_, lost_), "",
      result::invalid_context);
}

void Session::fail(Result result, const char* call, const std::string& arguments) {
  failed_ = true;
  const std::string text = fmt::format("CUDA device {} ({}): {}", number_, facts().name,
                                       failure_text(*driver_, result, call, arguments));
  if (!is_sticky(result)) throw DeviceError(text, call, result);
  abandon(text);
  throw DeviceError(
      text + (given_ ? ". The context that was given is lost with what it held: give another one"
                     : ". What was on the device is lost; the next run begins anew"),
      call, result);
}

/// Letting go at once makes room for a new context where nobody else holds the broken one: the driver then
/// destroys it with all it had.
void Session::abandon(const std::string& reason) noexcept {
  if (context_ == nullptr) return;
  try {
    lost_ = reason;
  } catch (...) {
    lost_.clear();  // no memory for the reason: dead without one
  }
  while (depth_ > 0) pop();
  if (!given_) functions().primary_release.function(device_);
  context_ = nullptr;
}

bool Session::push() noexcept {
  // Any call may bring an earlier call's error; what is not given back now never is, so it is tried again.
  for (int attempt = 0; attempt < 2 && alive(); ++attempt) {
    const Result result = functions().context_push.function(context_);
    if (result == result::success) {
      ++depth_;
      return true;
    }
    if (is_sticky(result)) lose(result, functions().context_push, context_);
  }
  return false;
}

void Session::pop() noexcept {
  --depth_;
  Context ignored = nullptr;
  functions().context_pop.function(&ignored);
}

Scope::Scope(Session& session) : session_(session) {
  session.require_alive();
  const Result result = session.functions().context_push.function(session.context_);
  if (result != result::success)
    session.fail(result, session.functions().context_push.name, Session::joined(session.context_));
  ++session.depth_;
}

Scope::~Scope() {
  if (session_.alive()) session_.pop();
}

OwnedStream make_stream(const std::shared_ptr<Session>& session) {
  Stream stream = nullptr;
  session->call(session->functions().stream_create, &stream, stream_non_blocking);
  return {session, stream};
}

OwnedEvent make_event(const std::shared_ptr<Session>& session) {
  Event event = nullptr;
  session->call(session->functions().event_create, &event, event_disable_timing);
  return {session, event};
}

OwnedPinned make_pinned(const std::shared_ptr<Session>& session, std::size_t bytes) {
  void* data = nullptr;
  session->call(session->functions().host_allocate, &data, bytes, host_memory_portable);
  return {session, data};
}

}  // namespace ondula::cuda
