// Taking, keeping and returning blocks.
// SPDX-License-Identifier: MIT
#include "runtime/device/cuda/pool.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/device/device.hpp"

namespace ondula::cuda {

Pool::Pool(std::shared_ptr<Session> session, std::size_t limit_bytes, bool reuse)
    : session_(std::move(session)), limit_(limit_bytes), reuse_(reuse) {}

DevicePointer Pool::take(std::size_t bytes) {
  bytes = std::max<std::size_t>(bytes, 1);
  // A block may be an eighth larger than what is asked for.
  const auto found = kept_.lower_bound(bytes);
  if (found != kept_.end() && found->first <= bytes + bytes / 8) {
    const DevicePointer pointer = found->second.memory.get();
    used_.emplace(pointer, std::move(found->second));
    kept_.erase(found);
    return pointer;
  }
  if (!fits(bytes)) trim();
  if (!fits(bytes)) refuse(bytes);
  DevicePointer pointer = 0;
  const auto& allocate = session_->functions().allocate;
  if (session_->try_call(result::out_of_memory, allocate, &pointer, bytes) != result::success) {
    trim();
    if (session_->try_call(result::out_of_memory, allocate, &pointer, bytes) != result::success)
      refuse(bytes);
  }
  Block block{OwnedMemory(session_, pointer), bytes};
  used_.emplace(pointer, std::move(block));
  held_ += bytes;
  return pointer;
}

void Pool::refuse(std::size_t bytes) const {
  const std::string who = fmt::format("CUDA device {} ({})", session_->number(), session_->facts().name);
  if (!fits(bytes)) {
    throw device::NoRoom(
        fmt::format("{}: {} bytes more of device memory ({} held) would pass its limit of {} bytes", who,
                    bytes, held_, limit_));
  }
  std::size_t free_bytes = 0, total = 0;
  session_->call(session_->functions().memory_info, &free_bytes, &total);
  throw device::NoRoom(fmt::format(
      "{} has no memory for {} bytes more: this run holds {}, and {} of {} bytes are free{}. Ask for "
      "a smaller grid, fewer steps kept or float32",
      who, bytes, held_, free_bytes, total,
      limit_ > 0 ? fmt::format(" (the run's limit is {} bytes)", limit_) : ""));
}

void Pool::give(DevicePointer pointer) noexcept {
  const auto found = used_.find(pointer);
  if (found == used_.end()) return;
  Block block = std::move(found->second);
  used_.erase(found);
  const std::size_t bytes = block.bytes;
  if (reuse_ && session_->alive()) {
    try {
      kept_.emplace(bytes, std::move(block));
      return;
    } catch (...) {  // no host memory to remember it: it goes back
    }
  }
  held_ -= bytes;
}

void Pool::trim() noexcept {
  for (const auto& [bytes, block] : kept_) held_ -= bytes;
  kept_.clear();
}

}  // namespace ondula::cuda
