// Contexts, memory and findings of the stand-in driver.
// SPDX-License-Identifier: MIT
#include "runtime/device/sim/driver_world.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/error.hpp"
#include "runtime/environment.hpp"
#include "runtime/jit/cache.hpp"

namespace ondula::sim::driver {
namespace {

/// Memory is handed out in such units.
constexpr std::size_t unit = 512;
constexpr std::size_t most_findings = 1000;

std::uint64_t charged(std::size_t bytes) { return (bytes + unit - 1) / unit * unit; }

int number(const std::string& text, const char* variable, int fallback) {
  if (text.empty()) return fallback;
  if (text.size() > 7 || text.find_first_not_of("0123456789") != std::string::npos)
    throw UserError(fmt::format("{} is '{}'; a number is needed", variable, text));
  return std::stoi(text);
}

Mode mode_named(const std::string& name) {
  if (name.empty() || name == "fast") return Mode::fast;
  if (name == "shuffle") return Mode::shuffle;
  if (name == "check") return Mode::check;
  throw UserError(fmt::format("ONDULA_SIM_MODE is '{}'; allowed are fast, shuffle and check", name));
}

}  // namespace

Configuration configuration_of_environment() {
  const Environment environment = read_environment();
  Configuration c;
  c.mode = mode_named(environment.sim_mode);
  c.seed = static_cast<std::uint64_t>(number(environment.sim_seed, "ONDULA_SIM_SEED", 0));
  c.devices = number(environment.sim_devices, "ONDULA_SIM_DEVICES", c.devices);
  c.capability = number(environment.sim_capability, "ONDULA_SIM_CAPABILITY", c.capability);
  c.driver_version = number(environment.sim_driver_version, "ONDULA_SIM_DRIVER_VERSION", c.driver_version);
  if (!environment.sim_memory.empty())
    c.memory = jit::parse_bytes(environment.sim_memory, "ONDULA_SIM_MEMORY");
  return c;
}

World::World(const Configuration& wanted)
    : configuration(wanted), queue_([this](const Operation& operation) { execute(operation); }) {
  queue_.set_mode(wanted.mode, wanted.seed);
}

void World::note(ContextObject& context, const std::vector<Finding>& found) {
  for (const Finding& finding : found) {
    if (findings.size() < most_findings) findings.push_back(finding.text);
    explain(finding.result, finding.text);
  }
  if (!found.empty()) poison(context, found.front().result);
}

void World::explain(cuda::Result result, const std::string& text) {
  if (error_texts_.size() < most_findings) error_texts_.emplace_back(result, text);
}

void World::poison(ContextObject& context, cuda::Result result) {
  if (context.poison == 0) context.poison = result;
  queue_.drop(&context);
}

const char* World::error_text(cuda::Result error) const {
  const auto last = std::find_if(error_texts_.rbegin(), error_texts_.rend(),
                                 [&](const auto& text) { return text.first == error; });
  return last == error_texts_.rend() ? nullptr : last->second.c_str();
}

void World::set_mode(Mode mode, std::uint64_t seed) {
  queue_.finish_all();
  queue_.set_mode(mode, seed);
  configuration.mode = mode;
  configuration.seed = seed;
  // What there was is before everything to come: clocks begin anew.
  timelines_ = Timelines();
  host_ = Clock();
  host_uses_.clear();
  const auto renew = [](StreamObject& stream) {
    stream.end = {};
    stream.timelines.clear();
  };
  streams.each(renew);
  events.each([](EventObject& event) { event.point = {}; });
  execs.each([](ExecObject& exec) { exec.end = {}; });
  contexts.each([&](ContextObject& context) {
    renew(context.legacy);
    context.loose = {};
    for (const auto& [thread, stream] : context.per_thread) renew(*stream);
    renew_shadow(context);
  });
}

void World::count_sectors(bool on) {
  queue_.finish_all();
  count_sectors_ = on;
  contexts.each([&](ContextObject& context) { renew_shadow(context); });
}

/// What is allocated already counts as written, by operations before all to come.
void World::renew_shadow(ContextObject& context) {
  context.shadow.reset();
  if (!checking() && !count_sectors_) return;
  Order order;
  if (checking())
    order = [this](std::uint64_t a, std::uint64_t) {
      return running_ == nullptr || timelines_.ended(a, *running_);
    };
  context.shadow = std::make_unique<Shadow>(std::move(order));
  std::vector<Finding> none;
  for (const auto& [address, allocation] : memory_.all()) {
    if (allocation.owner != &context) continue;
    context.shadow->add(address, allocation.bytes);
    context.shadow->wrote(address, allocation.bytes, 0, "the host", none);
  }
}

Placement World::placement() const { return {checking(), queue_.mode() != Mode::fast}; }

std::uint64_t World::used(int device) const {
  const auto at = used_.find(device);
  return at == used_.end() ? 0 : at->second;
}

std::uint64_t World::allocate(ContextObject& context, std::size_t bytes) {
  const std::uint64_t left = configuration.memory - used(context.device);
  if (bytes > left || charged(bytes) > left) return 0;
  const Allocation* const allocation = memory_.create(bytes, &context, placement());
  if (allocation == nullptr) return 0;
  used_[context.device] += charged(bytes);
  if (context.shadow) context.shadow->add(allocation->address, bytes);
  std::uint64_t now = 0;
  for (const auto& [address, each] : memory_.all()) now += each.bytes;
  peak_ = std::max(peak_, now);
  return allocation->address;
}

void World::free(const Allocation& allocation) {
  queue_.finish_all();
  ContextObject& context = *allocation.owner;
  if (context.shadow) {
    std::vector<Finding> found;
    context.shadow->remove(allocation.address, found, 0);
    note(context, found);
  }
  used_[context.device] -= charged(allocation.bytes);
  memory_.destroy(allocation);
}

void World::free_pinned(const Allocation& allocation) {
  queue_.finish_all();
  host_uses_.forget(allocation.address, allocation.bytes);
  pinned.destroy(allocation);
}

void World::require(std::uint64_t address, std::size_t bytes) const {
  if (memory_.covering(address, bytes) == nullptr) throw Refusal{cuda::result::invalid_value};
}

ContextObject& World::create_context(int device, unsigned references) {
  auto made = std::make_unique<ContextObject>();
  ContextObject& context = *made;
  context.device = device;
  context.references = references;
  context.legacy.context = &context;
  context.handle = contexts.add(std::move(made));
  renew_shadow(context);
  return context;
}

ContextObject* World::primary(int device) const {
  ContextObject* found = nullptr;
  contexts.each([&](ContextObject& context) {
    if (context.device == device && context.references > 0) found = &context;
  });
  return found;
}

void World::note_leaks(const ContextObject& context) {
  std::size_t allocations = 0, bytes = 0, locked = 0;
  for (const auto& [address, allocation] : memory_.all()) {
    if (allocation.owner != &context) continue;
    ++allocations;
    bytes += allocation.bytes;
  }
  for (const auto& [address, allocation] : pinned.all()) locked += allocation.owner == &context ? 1 : 0;
  std::string left;
  const auto add = [&](std::size_t count, const std::string& what) {
    if (count > 0) left += fmt::format("{}{} {}", left.empty() ? "" : ", ", count, what);
  };
  add(allocations, fmt::format("allocations ({} bytes)", bytes));
  add(locked, "pinned allocations");
  add(modules.of(&context).size(), "modules");
  add(streams.of(&context).size(), "streams");
  add(events.of(&context).size(), "events");
  add(graphs.of(&context).size(), "graphs");
  add(execs.of(&context).size(), "instantiated graphs");
  if (!left.empty())
    findings.push_back(
        fmt::format("the context of device {} was destroyed with {} left in it", context.device, left));
}

void World::destroy_context(ContextObject& context) {
  if (context.poison == 0) finish(context);
  if (context.poison == 0 && checking()) note_leaks(context);
  queue_.finish_all();
  const auto erase_all = [&](auto& table) {
    for (const auto handle : table.of(&context)) table.erase(handle);
  };
  erase_all(execs);
  erase_all(graphs);
  erase_all(events);
  erase_all(functions);
  erase_all(modules);
  std::erase_if(captures, [&](const std::shared_ptr<Capture>& capture) {
    const StreamObject* const origin = streams.find(capture->origin);
    if (origin != nullptr && origin->context != &context) return false;
    capture->active = capture->valid = false;
    return true;
  });
  erase_all(streams);
  const auto unmap_all = [&](Allocations& allocations) {
    std::vector<Allocation> owned;
    for (const auto& [address, allocation] : allocations.all()) {
      if (allocation.owner == &context) owned.push_back(allocation);
    }
    for (const Allocation& allocation : owned) allocations.destroy(allocation);
  };
  unmap_all(memory_);
  unmap_all(pinned);
  used_.erase(context.device);
  for (const auto& [address, allocation] : memory_.all()) {
    if (allocation.owner->device == context.device) used_[context.device] += charged(allocation.bytes);
  }
  contexts.erase(context.handle);
}

ondula_sim_counts World::counts() const {
  ondula_sim_counts counts{};
  for (const auto& [address, allocation] : memory_.all()) counts.bytes += allocation.bytes;
  counts.allocations = memory_.all().size();
  counts.peak_bytes = peak_;
  counts.pinned = pinned.all().size();
  counts.modules = modules.size();
  counts.streams = streams.size();
  counts.events = events.size();
  counts.graphs = graphs.size();
  counts.execs = execs.size();
  counts.contexts = contexts.size();
  counts.programs = programs;
  return counts;
}

}  // namespace ondula::sim::driver
