// The control interface: modes, reports, planned faults, counts.
// SPDX-License-Identifier: MIT
#include "runtime/device/sim/control.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "runtime/device/sim/driver_call.hpp"

namespace ondula::sim::driver {
namespace {

/// Runs `body(world)` alone, uncounted.
template <class Body>
auto alone(const Body& body) {
  Process& process = Process::get();
  const std::lock_guard lock(process.mutex);
  return body(process.here());
}

/// As much as fits, zero-terminated; nothing where there is no room for that.
void copy_text(const std::string& from, char* to, std::size_t size) {
  if (to == nullptr || size == 0) return;
  const std::size_t length = std::min(from.size(), size - 1);
  std::memcpy(to, from.data(), length);
  to[length] = '\0';
}

}  // namespace
}  // namespace ondula::sim::driver

using namespace ondula::sim::driver;  // NOLINT: what follows belongs to no namespace

void ondula_sim_set_mode(int mode, uint64_t seed) {
  alone([&](World& world) { world.set_mode(static_cast<ondula::sim::Mode>(std::clamp(mode, 0, 2)), seed); });
}

int ondula_sim_report(char* text, size_t size) {
  return alone([&](World& world) {
    std::string all;
    for (const std::string& finding : world.findings) all += (all.empty() ? "" : "\n\n") + finding;
    copy_text(all, text, size);
    const auto count = static_cast<int>(world.findings.size());
    world.findings.clear();
    return count;
  });
}

void ondula_sim_fail(const char* name, uint64_t nth, int result) {
  alone([&](World& world) { world.faults.plan(name, nth, result); });
}

void ondula_sim_failed(char* name, size_t size) {
  alone([&](World& world) { copy_text(world.faults.failed(), name, size); });
}

uint64_t ondula_sim_calls(void) {
  return alone([](World& world) { return world.faults.calls(); });
}

void ondula_sim_live(ondula_sim_counts* counts) {
  alone([&](World& world) { *counts = world.counts(); });
}

void ondula_sim_count_sectors(int on) {
  alone([&](World& world) { world.count_sectors(on != 0); });
}

int ondula_sim_counters(ondula_sim_kernel* kernels, int capacity) {
  return alone([&](World& world) {
    int filled = 0;
    for (const auto& [name, counted] : world.counters) {
      if (kernels == nullptr || filled == capacity) break;
      ondula_sim_kernel& to = kernels[filled++];
      to = {{},
            counted.launches,
            counted.threads,
            counted.sectors_read,
            counted.sectors_written,
            counted.block_sectors_read,
            counted.block_sectors_written};
      name.copy(to.name, sizeof to.name - 1);
    }
    return static_cast<int>(world.counters.size());
  });
}

void ondula_sim_clear_counters(void) {
  alone([](World& world) { world.counters.clear(); });
}

void ondula_sim_configure(int devices, int capability, uint64_t memory, int driver_version,
                          int multiprocessors) {
  alone([&](World& world) {
    Configuration& c = world.configuration;
    const auto set = [](int& figure, int value) {
      if (value >= 0) figure = value;
    };
    set(c.devices, devices);
    set(c.capability, capability);
    set(c.driver_version, driver_version);
    set(c.multiprocessors, multiprocessors);
    if (memory > 0) c.memory = memory;
  });
}

void ondula_sim_old_driver(int result) {
  alone([&](World& world) { world.configuration.old_driver = result; });
}

void ondula_sim_reset(void) {
  Process& process = Process::get();
  const std::lock_guard lock(process.mutex);
  process.world.reset();
  ++process.resets;
}
