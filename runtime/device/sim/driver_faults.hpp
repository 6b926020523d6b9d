// Faults on demand: which call of the driver is to fail, and with what.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/device/cuda/driver.hpp"

namespace ondula::sim::driver {

/// Results after which a context is of no use.
constexpr bool sticky(cuda::Result result) {
  return result == cuda::result::illegal_address || result == cuda::result::launch_failed ||
         result == cuda::result::unknown;
}

/// Planned faults, and the count of calls.
class Faults {
 public:
  /// The nth call from now (1: the next) of `name`, or of any driver call with "*", gets `result`.
  void plan(std::string name, std::uint64_t nth, cuda::Result result);
  /// A call of the driver (or, not `counted`, of NVRTC): what it must return, 0 for nothing.
  cuda::Result call(std::string_view name, bool counted);
  std::uint64_t calls() const { return calls_; }
  /// The call that the last planned fault came to; empty before the first.
  const std::string& failed() const { return failed_; }

 private:
  struct Planned {
    std::string name;
    std::uint64_t left;
    cuda::Result result;
  };
  std::vector<Planned> planned_;
  std::uint64_t calls_ = 0;
  std::string failed_;
};

}  // namespace ondula::sim::driver
