// Messages of failed driver calls.
// SPDX-License-Identifier: MIT
#include "runtime/device/cuda/errors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace ondula::cuda {

bool is_sticky(Result result) {
  // What the driver API's reference says of each: the process's context must be made anew.
  static constexpr std::array<Result, 19> lost = {result::deinitialized,
                                                  result::device_unavailable,
                                                  214 /* ECC */,
                                                  220 /* NVLink */,
                                                  226 /* contained */,
                                                  result::illegal_address,
                                                  result::launch_timeout,
                                                  709 /* context destroyed */,
                                                  710 /* assert */,
                                                  714 /* stack */,
                                                  715 /* instruction */,
                                                  716 /* misaligned */,
                                                  717 /* address space */,
                                                  718 /* program counter */,
                                                  result::launch_failed,
                                                  721 /* tensor memory leak */,
                                                  810 /* MPS client terminated */,
                                                  911 /* external device */,
                                                  result::unknown};
  return std::find(lost.begin(), lost.end(), result) != lost.end();
}

std::string argument_text(std::uint64_t value) {
  constexpr std::uint64_t readable = 1ULL << 40;  // sizes and counts below, addresses above
  return value < readable ? fmt::format("{}", value) : fmt::format("{:#x}", value);
}

std::string argument_text(std::int64_t value) { return fmt::format("{}", value); }

std::string argument_text(const char* value) {
  return value == nullptr ? "null" : fmt::format("\"{}\"", value);
}

std::string argument_text(const void* value) { return value == nullptr ? "null" : fmt::format("{}", value); }

std::string failure_text(const Driver& driver, Result result, const char* call,
                         const std::string& arguments) {
  return fmt::format("{}({}) failed with {} {}", call, arguments, result, driver.describe(result));
}

}  // namespace ondula::cuda
