// Copies, fills and frees against shadow memory.
// SPDX-License-Identifier: MIT
#include "runtime/device/sim/shadow.hpp"

#include <fmt/format.h>

#include "runtime/device/sim/shadow_cells.hpp"

namespace ondula::sim {
namespace {

constexpr int stray_result = 700, race_result = 719;

/// "1024 bytes at 0x7f00, 0 to 512 past the end of ..." for a range no allocation holds.
std::string stray_text(const Shadow::Impl& shadow, std::uint64_t address, std::size_t bytes) {
  if (const Region* freed = shadow.freed(address))
    return fmt::format("{} bytes at {:#x}, inside an allocation of {} bytes that was freed", bytes, address,
                       freed->bytes);
  const Region* near = shadow.nearest(address);
  if (near == nullptr) return fmt::format("{} bytes at {:#x}, and nothing is allocated", bytes, address);
  return fmt::format("{} bytes at {:#x}; the nearest allocation is {} bytes at {:#x}", bytes, address,
                     near->bytes, near->begin);
}

/// Touches each word of the range as one operation; the first fault of it is told.
void touch(Shadow::Impl& shadow, std::uint64_t address, std::size_t bytes, std::uint64_t operation,
           const std::string& what, bool store, std::vector<Finding>& findings) {
  if (bytes == 0) return;
  const std::uint32_t number = shadow.number(operation);
  if (number != 0) shadow.label(number, what);
  Region* region = shadow.find(address);
  if (region == nullptr || bytes > region->end() - address) {
    findings.push_back(
        {fmt::format("out of bounds: {} of {}", what, stray_text(shadow, address, bytes)), stray_result});
    return;
  }
  const Access by{number, 0, 0, 0};
  const std::size_t first = (address - region->begin) / 4, last = (address + bytes - 1 - region->begin) / 4;
  bool told = false;
  for (std::size_t i = first; i <= last; ++i) {
    const unsigned mask = i == first || i == last ? mask_of(*region, i, address, bytes) : 15U;
    const Problem problem =
        store ? shadow.store(region->cells[i], mask, by) : shadow.load(region->cells[i], mask, by);
    if (told || problem.kind == Problem::Kind::none) continue;
    told = true;
    const std::string place =
        fmt::format("byte {} of the allocation of {} bytes at {:#x}", 4 * i, region->bytes, region->begin);
    if (problem.kind == Problem::Kind::unwritten) {
      findings.push_back(
          {fmt::format("uninitialised read: {} of {} bytes reads {}, which nothing has written", what, bytes,
                       place),
           race_result});
      continue;
    }
    findings.push_back({fmt::format("race: {} {} {}, which {} {}, and nothing orders the two", what,
                                    store ? "writes" : "reads", place, shadow.label_of(problem.operation),
                                    problem.kind == Problem::Kind::after_write ? "writes" : "reads"),
                        race_result});
  }
}

}  // namespace

Shadow::Shadow(Order order) : impl_(std::make_unique<Impl>(std::move(order))) {}

Shadow::~Shadow() = default;

void Shadow::add(std::uint64_t address, std::size_t bytes) { impl_->add(address, bytes); }

void Shadow::remove(std::uint64_t address, std::vector<Finding>& findings, std::uint64_t operation) {
  const Region region = impl_->remove(address);
  const std::uint32_t number = impl_->number(operation);
  for (const Cell& cell : region.cells) {
    for (const auto& [used, by] : {std::pair{cell.write_mask != 0, cell.write_operation},
                                   std::pair{cell.read_mask != 0, cell.read_operation},
                                   std::pair{cell.other_read_operation != 0, cell.other_read_operation}}) {
      if (!used || impl_->ordered(by, number)) continue;
      findings.push_back(
          {fmt::format("freed while in use: the allocation of {} bytes at {:#x} is freed, and nothing "
                       "orders that after {}",
                       region.bytes, region.begin, impl_->label_of(by)),
           race_result});
      return;
    }
  }
}

void Shadow::wrote(std::uint64_t address, std::size_t bytes, std::uint64_t operation, const std::string& what,
                   std::vector<Finding>& findings) {
  touch(*impl_, address, bytes, operation, what, true, findings);
}

void Shadow::read(std::uint64_t address, std::size_t bytes, std::uint64_t operation, const std::string& what,
                  std::vector<Finding>& findings) {
  touch(*impl_, address, bytes, operation, what, false, findings);
}

void Shadow::label(std::uint64_t operation, const std::string& what) {
  impl_->label(impl_->number(operation), what);
}

void Shadow::forget(std::uint64_t address, std::size_t bytes) {
  Region* region = impl_->find(address);
  if (region == nullptr) return;
  for (std::uint64_t at = address; at < address + bytes && at < region->end(); at += 4)
    region->cells[(at - region->begin) / 4] = {};
}

}  // namespace ondula::sim
