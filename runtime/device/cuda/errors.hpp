// Statuses of the CUDA driver as exceptions.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>

#include "compiler/error.hpp"
#include "runtime/device/cuda/library.hpp"

namespace ondula::cuda {

/// A driver's call failed. The message has the call with its arguments, the status' number and name.
class DeviceError : public RuntimeError {
 public:
  DeviceError(const std::string& message, std::string call, Result code)
      : RuntimeError(message), call_(std::move(call)), code_(code) {}
  const std::string& call() const noexcept { return call_; }
  Result code() const noexcept { return code_; }

 private:
  std::string call_;
  Result code_;
};

/// Whether a status means that its context is lost: every later call on it fails.
bool is_sticky(Result result);

/// One argument as a message shows it.
std::string argument_text(std::uint64_t value);
std::string argument_text(std::int64_t value);
std::string argument_text(const char* value);
std::string argument_text(const void* value);

template <class T>
std::string any_argument_text(const T& value) {
  if constexpr (std::is_same_v<T, const char*>)
    return argument_text(value);
  else if constexpr (std::is_pointer_v<T>)
    return argument_text(static_cast<const void*>(value));
  else if constexpr (std::is_signed_v<T>)
    return argument_text(static_cast<std::int64_t>(value));
  else
    return argument_text(static_cast<std::uint64_t>(value));
}

/// "cuMemAlloc_v2(0x7f.., 4096) failed with 2 CUDA_ERROR_OUT_OF_MEMORY (out of memory)".
std::string failure_text(const Driver& driver, Result result, const char* call, const std::string& arguments);

}  // namespace ondula::cuda
