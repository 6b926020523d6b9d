// What checked code calls, and what is made of it.
// SPDX-License-Identifier: MIT
#include "runtime/device/sim/checker.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ondula::sim {
namespace {

constexpr int stray_result = 700, race_result = 719;
constexpr std::uint64_t sector_bytes = 32;

/// Kernels call plain functions: what they are part of is known per thread of the machine.
thread_local Running running;

template <unsigned bytes, bool store>
void look(std::uint64_t address) {
  const Running now = running;
  if (now.checker == nullptr) return;
  if (now.fibers != nullptr) now.checker->begin_thread(now.fibers->thread(), now.fibers->stack_top());
  const auto code = reinterpret_cast<std::uint64_t>(__builtin_return_address(0));
  if (store ? now.checker->store(address, bytes, code) : now.checker->load(address, bytes, code)) return;
  // Nothing between here and there has anything to clean up.
  if (now.fibers != nullptr) now.fibers->abandon();
  std::longjmp(now.checker->escape(), 1);
}

void barrier(unsigned line) {
  if (running.fibers != nullptr) running.fibers->wait(line);
}

template <class Function>
void* address_of(Function* function) {
  return reinterpret_cast<void*>(function);
}

}  // namespace

std::map<std::string, void*> kernel_callbacks() {
  return {{"ondula_sim_barrier", address_of(barrier)},
          {"__sanitizer_cov_load1", address_of(look<1, false>)},
          {"__sanitizer_cov_load2", address_of(look<2, false>)},
          {"__sanitizer_cov_load4", address_of(look<4, false>)},
          {"__sanitizer_cov_load8", address_of(look<8, false>)},
          {"__sanitizer_cov_load16", address_of(look<16, false>)},
          {"__sanitizer_cov_store1", address_of(look<1, true>)},
          {"__sanitizer_cov_store2", address_of(look<2, true>)},
          {"__sanitizer_cov_store4", address_of(look<4, true>)},
          {"__sanitizer_cov_store8", address_of(look<8, true>)},
          {"__sanitizer_cov_store16", address_of(look<16, true>)}};
}

RunningScope::RunningScope(Running now) : before_(running) { running = now; }

RunningScope::~RunningScope() { running = before_; }

Checker::Checker(const Launch& launch, const Variant& code, Shadow& shadow, Duties duties,
                 std::vector<Finding>& findings)
    : launch_(launch),
      code_(code),
      shadow_(shadow.impl()),
      report_(duties.report),
      findings_(findings),
      shared_(reinterpret_cast<std::uint64_t>(code.shared.data()), code.shared.size()),
      operation_(shadow_.number(launch.operation)),
      stamp_(shadow_.next_stamp()) {
  if (operation_ != 0) shadow_.label(operation_, "kernel " + launch.kernel->name);
  if (!duties.count) return;
  const auto text = code.image->section(".text");
  blocks_.emplace(reinterpret_cast<std::uint64_t>(text.data()), text.size(),
                  std::size_t{launch.block[0]} * launch.block[1] * launch.block[2]);
}

void Checker::begin_block(std::uint64_t number, const Dim3& index) {
  block_ = static_cast<std::uint32_t>(number);
  block_index_ = index;
  phase_ = 0;
  std::fill(shared_.cells.begin(), shared_.cells.end(), Cell());
  if (blocks_) blocks_->begin_block();
}

bool Checker::own(std::uint64_t address) const {
  const auto here = reinterpret_cast<std::uint64_t>(__builtin_frame_address(0));
  const auto arguments = reinterpret_cast<std::uint64_t>(launch_.arguments.data());
  return (address >= here && address < stack_top_) || address - arguments < launch_.arguments.size() ||
         code_.image->contains(address);
}

Region* Checker::region_at(std::uint64_t address) {
  Region*& recent = recent_[(code_address_ >> 2) % recent_.size()];
  if (recent != nullptr && recent->holds(address)) return recent;
  if (shared_.holds(address)) return recent = &shared_;
  if (own(address)) return nullptr;
  Region* const found = shadow_.find(address);
  if (found != nullptr) recent = found;
  return found;
}

bool Checker::access(std::uint64_t address, unsigned bytes, bool store) {
  Region* region = region_at(address);
  if (region == nullptr && own(address)) return true;
  if (region == nullptr || bytes > region->end() - address) {
    if (!report_) return true;
    outside(address, bytes, store);
    stopped_ = true;
    return false;
  }
  if (region != &shared_ && blocks_) count(*region, address, bytes, store);
  if (report_) look(*region, address, bytes, store);
  return true;
}

void Checker::count(Region& region, std::uint64_t address, unsigned bytes, bool store) {
  const std::uint64_t origin = region.begin / sector_bytes;
  const std::uint64_t first = address / sector_bytes, end = (address + bytes - 1) / sector_bytes;
  blocks_->touch(code_address_, thread_, first, end, store);
  for (std::uint64_t s = first; s <= end; ++s) {
    std::uint32_t& last = (store ? region.sectors_written : region.sectors_read)[s - origin];
    if (last == stamp_) continue;
    last = stamp_;
    ++(store ? sectors_written_ : sectors_read_);
  }
}

void Checker::look(Region& region, std::uint64_t address, unsigned bytes, bool store) {
  const Access by{operation_, block_, thread_, phase_};
  const std::size_t first = (address - region.begin) / 4, last = (address + bytes - 1 - region.begin) / 4;
  for (std::size_t i = first; i <= last; ++i) {
    const unsigned mask = mask_of(region, i, address, bytes);
    const Problem problem =
        store ? shadow_.store(region.cells[i], mask, by) : shadow_.load(region.cells[i], mask, by);
    if (problem.kind != Problem::Kind::none) tell(region, address, bytes, store, problem);
  }
}

Dim3 Checker::thread_index(std::uint32_t number) const {
  const auto& block = launch_.block;
  return {number % block[0], number / block[0] % block[1], number / (block[0] * block[1])};
}

std::string Checker::where() const {
  const Dim3 thread = thread_index(thread_);
  const auto begin = reinterpret_cast<std::uint64_t>(code_.image->section(".text").data());
  // A return address may already be of the next line.
  const unsigned line = line_at(code_.lines, code_address_ - 1 - begin);
  return fmt::format("kernel {}{}, block ({}, {}, {}), thread ({}, {}, {})", launch_.kernel->name,
                     line > 0 ? fmt::format(", line {}", line) : "", block_index_.x, block_index_.y,
                     block_index_.z, thread.x, thread.y, thread.z);
}

std::string Checker::thread_text(std::uint32_t block, std::uint32_t thread) const {
  if (block == Cell::many) return "threads of several blocks";
  const auto& grid = launch_.grid;
  const std::string of = block == block_ ? "its block"
                                         : fmt::format("block ({}, {}, {})", block % grid[0],
                                                       block / grid[0] % grid[1], block / grid[0] / grid[1]);
  if (thread == Cell::many) return "several threads of " + of;
  const Dim3 index = thread_index(thread);
  return fmt::format("thread ({}, {}, {}) of {}", index.x, index.y, index.z, of);
}

std::string Checker::region_text(const Region& region) const {
  if (&region == &shared_) return "the shared memory";
  std::string names;
  for (const Parameter& parameter : launch_.kernel->parameters) {
    if (!parameter.pointer) continue;
    std::uint64_t value = 0;
    std::copy_n(launch_.arguments.begin() + static_cast<std::ptrdiff_t>(parameter.offset), sizeof value,
                reinterpret_cast<std::byte*>(&value));
    if (!region.holds(value) || parameter.name.empty()) continue;
    names += (names.empty() ? " of " : " or ") + parameter.name;
  }
  return fmt::format("the {} bytes{} at {:#x}", region.bytes, names, region.begin);
}

void Checker::add(const std::string& kind, const std::string& text, int result) {
  constexpr std::size_t most = 16;
  if (told_.size() < most && told_.insert(kind).second) findings_.push_back({text, result});
}

void Checker::tell(const Region& region, std::uint64_t address, unsigned bytes, bool store,
                   const Problem& problem) {
  const char* const does = store ? "stores" : "loads";
  const std::string place = fmt::format("byte {} of {}", address - region.begin, region_text(region));
  if (problem.kind == Problem::Kind::unwritten) {
    add(fmt::format("unwritten {}", region.begin),
        fmt::format("uninitialised read: {} loads {} bytes from {}, which nothing has written", where(),
                    bytes, place),
        race_result);
    return;
  }
  const bool written = problem.kind == Problem::Kind::after_write;
  const std::string other = problem.same_operation ? thread_text(problem.block, problem.thread)
                                                   : shadow_.label_of(problem.operation);
  const char* const why = !problem.same_operation   ? "nothing orders the two"
                          : problem.block == block_ ? "no barrier stands between"
                                                    : "nothing orders the blocks of a launch";
  add(fmt::format("race {} {} {} {}", region.begin, store, written,
                  problem.same_operation ? 0 : problem.operation),
      fmt::format("race: {} {} {} bytes at {}, which {} {}, and {}", where(), does, bytes, place, other,
                  written ? "wrote" : "read", why),
      race_result);
}

void Checker::outside(std::uint64_t address, unsigned bytes, bool store) {
  std::string place;
  const Region* near = shadow_.nearest(address);
  if (const Region* freed = shadow_.freed(address)) {
    place = fmt::format("inside {} bytes at {:#x} that were freed", freed->bytes, freed->begin);
  } else if (near == nullptr) {
    place = "and nothing is allocated";
  } else if (near->holds(address)) {
    place = fmt::format("of which {} lie in {}", near->end() - address, region_text(*near));
  } else if (address == near->end()) {
    place = "right after " + region_text(*near);
  } else if (address > near->end()) {
    place = fmt::format("{} bytes after {}", address - near->end(), region_text(*near));
  } else {
    place = fmt::format("{} bytes before {}", near->begin - address, region_text(*near));
  }
  add("outside",
      fmt::format("out of bounds: {} {} {} bytes at {:#x}, {}", where(), store ? "stores" : "loads", bytes,
                  address, place),
      stray_result);
}

void Checker::divergent(const BlockEnd& end) {
  const Dim3 a = thread_index(end.waiting), b = thread_index(end.other);
  const std::string other = end.kind == BlockEnd::Kind::two_barriers
                                ? fmt::format("waits at that of line {}", end.other_line)
                                : std::string("has ended");
  add("divergent",
      fmt::format("divergent barrier: kernel {}, block ({}, {}, {}): thread ({}, {}, {}) waits at the "
                  "barrier of line "
                  "{}, thread ({}, {}, {}) {}",
                  launch_.kernel->name, block_index_.x, block_index_.y, block_index_.z, a.x, a.y, a.z,
                  end.waiting_line, b.x, b.y, b.z, other),
      race_result);
  stopped_ = true;
}

}  // namespace ondula::sim
