// Tables of taps: cells with what they gain, receivers with what they read.
// SPDX-License-Identifier: MIT
#include "runtime/loop/cuda_points.hpp"

#include <algorithm>

namespace ondula::loop {

bool CudaTable::reserve(cuda::Device& device, std::size_t bytes) {
  if (bytes <= buffer_.bytes()) return false;
  buffer_ = device::Buffer();  // before there is room for another
  buffer_ = device.allocate(bytes);
  return true;
}

std::size_t CudaPoints::bytes(DType dtype, const PointCounts& counts) {
  const std::size_t real = dtype == DType::float32 ? sizeof(float) : sizeof(double);
  const std::size_t source_tap = 2 * sizeof(std::int64_t) + real + sizeof(std::int32_t);  // with its cell
  return counts.source_taps * source_tap + counts.rows * 2 * sizeof(std::int64_t) +
         counts.row_taps * (sizeof(std::int64_t) + sizeof(double));
}

bool CudaPoints::set(const std::vector<Deposit>& deposits, std::size_t sources,
                     const std::vector<Pickup>& pickups, std::size_t rows) {
  bool changed = static_cast<std::int64_t>(sources) > sources_ || static_cast<std::int64_t>(rows) > rows_;
  sources_ = std::max(sources_, static_cast<std::int64_t>(sources));
  rows_ = std::max(rows_, static_cast<std::int64_t>(rows));
  std::map<int, std::vector<const Deposit*>> by_operation;
  std::map<std::string, std::vector<const Pickup*>> by_field;
  // What an earlier shot had and this one has not becomes empty.
  for (const auto& [operation, taps] : injections_) by_operation[operation];
  for (const auto& [field, taps] : records_) by_field[field];
  for (const Deposit& deposit : deposits) by_operation[deposit.operation].push_back(&deposit);
  for (const Pickup& pickup : pickups) by_field[pickup.field].push_back(&pickup);
  for (const auto& [operation, own] : by_operation) changed |= fill_injection(injections_[operation], own);
  for (const auto& [field, own] : by_field) changed |= fill_record(records_[field], own);
  return changed;
}

bool CudaPoints::reserve(CudaTaps& taps, std::size_t groups, std::size_t count, std::size_t weight_bytes,
                         std::size_t of_bytes, bool of_taps) {
  bool changed = static_cast<std::int64_t>(groups) > taps.groups;
  taps.groups = std::max(taps.groups, static_cast<std::int64_t>(groups));
  taps.taps = std::max(taps.taps, static_cast<std::int64_t>(count));
  const auto room = static_cast<std::size_t>(taps.groups), all = static_cast<std::size_t>(taps.taps);
  // A source's cell is one entry, a receiver reads several.
  changed |= taps.cells.reserve(device_, (of_taps ? room : all) * sizeof(std::int64_t));
  changed |= taps.first.reserve(device_, (room + 1) * sizeof(std::int64_t));
  changed |= taps.weight.reserve(device_, all * weight_bytes);
  changed |= taps.of.reserve(device_, (of_taps ? all : room) * of_bytes);
  return changed;
}

void CudaPoints::upload_weights(CudaTaps& taps, const std::vector<double>& weights, bool wide) {
  if (wide || dtype_ == DType::float64)
    taps.weight.upload(device_, weights);
  else
    taps.weight.upload(device_, std::vector<float>(weights.begin(), weights.end()));
}

bool CudaPoints::fill_injection(CudaTaps& taps, const std::vector<const Deposit*>& deposits) {
  struct Tap {
    double weight = 0;
    std::int32_t source = 0;
  };
  // Each cell is one thread's; what it gains keeps the order of the deposits.
  std::map<std::int64_t, std::vector<Tap>> gains;
  std::size_t count = 0;
  for (const Deposit* deposit : deposits) {
    for (const device::Weighted& entry : deposit->to)
      gains[entry.element].push_back({entry.weight, static_cast<std::int32_t>(deposit->source)});
    count += deposit->to.size();
  }
  const std::size_t real = dtype_ == DType::float32 ? sizeof(float) : sizeof(double);
  const bool changed = reserve(taps, gains.size(), count, real, sizeof(std::int32_t), true);
  std::vector<std::int64_t> cells, first{0};
  std::vector<double> weights;
  std::vector<std::int32_t> sources;
  for (const auto& [cell, own] : gains) {
    cells.push_back(cell);
    for (const Tap& tap : own) {
      weights.push_back(tap.weight);
      sources.push_back(tap.source);
    }
    first.push_back(static_cast<std::int64_t>(weights.size()));
  }
  const auto room = static_cast<std::size_t>(taps.groups);
  cells.resize(room, 0);
  first.resize(room + 1, static_cast<std::int64_t>(count));
  taps.cells.upload(device_, cells);
  taps.first.upload(device_, first);
  taps.of.upload(device_, sources);
  upload_weights(taps, weights, false);
  return changed;
}

bool CudaPoints::fill_record(CudaTaps& taps, const std::vector<const Pickup*>& pickups) {
  std::vector<std::int64_t> cells, first{0}, places;
  std::vector<double> weights;
  for (const Pickup* pickup : pickups) {
    for (const device::Weighted& entry : pickup->from) {
      cells.push_back(entry.element);
      weights.push_back(entry.weight);
    }
    first.push_back(static_cast<std::int64_t>(cells.size()));
    places.push_back(pickup->place);
  }
  const bool changed =
      reserve(taps, pickups.size(), cells.size(), sizeof(double), sizeof(std::int64_t), false);
  const auto room = static_cast<std::size_t>(taps.groups);
  first.resize(room + 1, static_cast<std::int64_t>(cells.size()));
  places.resize(room, -1);
  taps.cells.upload(device_, cells);
  taps.first.upload(device_, first);
  taps.of.upload(device_, places);
  upload_weights(taps, weights, true);
  return changed;
}

}  // namespace ondula::loop
