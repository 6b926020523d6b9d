// The stand-in driver, opened as a program opens a driver, with one context made current.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/device/cuda/driver.hpp"
#include "runtime/device/sim/control.h"

namespace ondula::test {

/// How many devices, of how much memory, in which mode.
struct DriverSetup {
  int mode = ONDULA_SIM_FAST;
  std::uint64_t seed = 0;
  int devices = 1;
  std::uint64_t memory = 64 << 20;
  int capability = 90;
  bool context = true;  ///< initialises, retains device 0's primary context and makes it current
};

/// The library's functions under the names of the driver's table, in a fresh driver.
class SimDriver {
 public:
  explicit SimDriver(const DriverSetup& setup = {});
  ~SimDriver();
  SimDriver(const SimDriver&) = delete;
  SimDriver& operator=(const SimDriver&) = delete;

  cuda::DevicePointer allocate_bytes(std::size_t bytes) const;
  /// Pinned memory of `count` floats.
  float* pinned(std::size_t count) const;
  cuda::Stream stream() const;
  cuda::Event event() const;
  /// Ends a capture and instantiates it; the graph is gone.
  cuda::GraphExec captured(cuda::Stream stream) const;
  /// `text` compiled for `architecture`; the log is checked to be empty.
  std::vector<char> compile(const std::string& text, const std::string& architecture = "sm_90") const;
  /// The kernel `name` of `text`, compiled and loaded.
  cuda::Function kernel(const std::string& text, const std::string& name) const;
  /// What was found since the last call.
  std::string report() const;
  ondula_sim_counts live() const;
  /// The call that the last planned fault came to.
  std::string failed() const;

#define ONDULA_TEST_MEMBER(member, name, arguments) cuda::Result(*member) arguments = nullptr;
  ONDULA_CUDA_DRIVER(ONDULA_TEST_MEMBER)
#undef ONDULA_TEST_MEMBER
  cuda::Result (*context_create)(cuda::Context*, unsigned, int) = nullptr;
  cuda::Result (*context_destroy)(cuda::Context) = nullptr;
  cuda::Result (*context_set)(cuda::Context) = nullptr;
  cuda::Result (*primary_reset)(int) = nullptr;
  cuda::Result (*stream_capturing)(cuda::Stream, int*) = nullptr;
  cuda::Result (*function_set)(cuda::Function, int, int) = nullptr;
  decltype(&ondula_sim_set_mode) set_mode = nullptr;
  decltype(&ondula_sim_fail) fail = nullptr;
  decltype(&ondula_sim_calls) calls = nullptr;
  decltype(&ondula_sim_count_sectors) count_sectors = nullptr;
  decltype(&ondula_sim_counters) counters = nullptr;
  decltype(&ondula_sim_clear_counters) clear_counters = nullptr;
  decltype(&ondula_sim_configure) configure = nullptr;
  decltype(&ondula_sim_old_driver) old_driver = nullptr;
  decltype(&ondula_sim_reset) reset = nullptr;

  cuda::Context context = nullptr;
  void* library = nullptr;
  decltype(&ondula_sim_failed) failed_call = nullptr;
};

/// The modes, and a name for messages.
inline constexpr int sim_modes[] = {ONDULA_SIM_FAST, ONDULA_SIM_SHUFFLE, ONDULA_SIM_CHECK};

}  // namespace ondula::test
