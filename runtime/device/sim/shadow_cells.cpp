// Rules of shadow memory, and its tables.
// SPDX-License-Identifier: MIT
#include "runtime/device/sim/shadow_cells.hpp"

#include <fmt/format.h>

#include <utility>

namespace ondula::sim {

Region::Region(std::uint64_t address, std::size_t size)
    : begin(address),
      bytes(size),
      cells((size + 3) / 4),
      sectors_read(size / 32 + 2),
      sectors_written(size / 32 + 2) {}

Region* Shadow::Impl::find(std::uint64_t address) {
  if (last_ != nullptr && last_->holds(address)) return last_;
  auto after = regions_.upper_bound(address);
  if (after == regions_.begin()) return nullptr;
  Region& before = std::prev(after)->second;
  if (!before.holds(address)) return nullptr;
  return last_ = &before;
}

const Region* Shadow::Impl::nearest(std::uint64_t address) const {
  if (regions_.empty()) return nullptr;
  const auto after = regions_.upper_bound(address);
  if (after == regions_.begin()) return &after->second;
  const Region& before = std::prev(after)->second;
  if (after == regions_.end() || address - before.end() < after->first - address) return &before;
  return &after->second;
}

const Region* Shadow::Impl::freed(std::uint64_t address) const {
  for (auto region = freed_.rbegin(); region != freed_.rend(); ++region)
    if (region->holds(address)) return &*region;
  return nullptr;
}

void Shadow::Impl::add(std::uint64_t address, std::size_t bytes) {
  last_ = nullptr;
  regions_[address] = Region(address, bytes);
}

Region Shadow::Impl::remove(std::uint64_t address) {
  last_ = nullptr;
  const auto found = regions_.find(address);
  if (found == regions_.end()) return {};
  Region region = std::move(found->second);
  regions_.erase(found);
  Region& kept = freed_.emplace_back();
  kept.begin = region.begin;
  kept.bytes = region.bytes;
  if (freed_.size() > freed_kept) freed_.pop_front();
  return region;
}

std::uint32_t Shadow::Impl::number(std::uint64_t operation) {
  if (operation == 0) return 0;
  const auto [at, fresh] = numbers_.try_emplace(operation, static_cast<std::uint32_t>(operations_.size()));
  if (fresh) operations_.push_back(operation);
  return at->second;
}

std::string Shadow::Impl::label_of(std::uint32_t number) const {
  if (number == 0) return "the host";
  const auto found = labels_.find(number);
  return found != labels_.end() ? found->second : fmt::format("operation {}", operations_[number]);
}

bool Shadow::Impl::ordered(std::uint32_t a, std::uint32_t b) {
  if (a == 0 || b == 0 || a == b || !order_) return true;
  if (asked_for_ != b) {
    answers_.clear();
    asked_for_ = b;
  }
  const auto known = answers_.find(a);
  if (known != answers_.end()) return known->second;
  return answers_[a] = order_(operations_[a], operations_[b]);
}

Problem Shadow::Impl::against_write(const Cell& cell, unsigned mask, const Access& by) {
  if ((cell.write_mask & mask) == 0) return {};
  const bool same = cell.write_operation == by.operation;
  const bool before =
      same ? cell.write_block == by.block && (cell.write_phase != by.phase || cell.write_thread == by.thread)
           : ordered(cell.write_operation, by.operation);
  if (before) return {};
  return {Problem::Kind::after_write, same, cell.write_operation, cell.write_block, cell.write_thread};
}

Problem Shadow::Impl::against_reads(const Cell& cell, unsigned mask, const Access& by) {
  if ((cell.read_mask & mask) == 0) return {};
  const bool same = cell.read_operation == by.operation;
  const bool before =
      same ? cell.read_block == by.block && (cell.read_phase != by.phase || cell.read_thread == by.thread)
           : ordered(cell.read_operation, by.operation);
  if (!before)
    return {Problem::Kind::after_read, same, cell.read_operation, cell.read_block, cell.read_thread};
  const std::uint32_t other = cell.other_read_operation;
  if (other == by.operation || ordered(other, by.operation)) return {};
  return {Problem::Kind::after_read, false, other, Cell::many, Cell::many};
}

Problem Shadow::Impl::load(Cell& cell, unsigned mask, const Access& by) {
  Problem problem = against_write(cell, mask, by);
  if (problem.kind == Problem::Kind::none && (cell.written & mask) != mask)
    problem.kind = Problem::Kind::unwritten;
  const auto bits = static_cast<std::uint8_t>(mask);
  if (cell.read_mask != 0 && cell.read_operation == by.operation) {
    if (cell.read_block != by.block) {
      cell.read_block = Cell::many;
    } else if (cell.read_phase != by.phase) {
      cell.read_phase = by.phase;
      cell.read_thread = by.thread;
    } else if (cell.read_thread != by.thread) {
      cell.read_thread = Cell::many;
    }
    cell.read_mask = static_cast<std::uint8_t>(cell.read_mask | bits);
    return problem;
  }
  if (cell.read_mask != 0 && !ordered(cell.read_operation, by.operation))
    cell.other_read_operation = cell.read_operation;
  cell.read_operation = by.operation;
  cell.read_block = by.block;
  cell.read_thread = by.thread;
  cell.read_phase = by.phase;
  cell.read_mask = bits;
  return problem;
}

Problem Shadow::Impl::store(Cell& cell, unsigned mask, const Access& by) {
  Problem problem = against_write(cell, mask, by);
  if (problem.kind == Problem::Kind::none) problem = against_reads(cell, mask, by);
  const auto bits = static_cast<std::uint8_t>(mask);
  cell.write_operation = by.operation;
  cell.write_block = by.block;
  cell.write_thread = by.thread;
  cell.write_phase = by.phase;
  cell.write_mask = bits;
  cell.written = static_cast<std::uint8_t>(cell.written | bits);
  // Whoever is ordered after this store is so after what it was ordered after.
  cell.read_mask = static_cast<std::uint8_t>(cell.read_mask & ~bits);
  if (cell.read_mask == 0) cell.other_read_operation = 0;
  return problem;
}

}  // namespace ondula::sim
