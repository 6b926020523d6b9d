// Device memory handed out under a cap, and kept for reuse.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <map>
#include <memory>

#include "runtime/device/cuda/session.hpp"

namespace ondula::cuda {

/// Memory of one session. What is given back is kept and handed out again to a request that is little
/// smaller; it goes back to the driver where the cap, or the device, has no room otherwise.
class Pool {
 public:
  /// `limit_bytes` bounds what is held, 0: what there is. With `reuse` off everything goes straight back.
  Pool(std::shared_ptr<Session> session, std::size_t limit_bytes, bool reuse);

  /// The context must be current. Throws device::NoRoom naming the bytes asked for, in use, and the limit.
  DevicePointer take(std::size_t bytes);
  /// The next user's work must be ordered after the last one's.
  void give(DevicePointer pointer) noexcept;
  /// Returns what nobody uses to the driver.
  void trim() noexcept;
  /// In use or kept.
  std::size_t held_bytes() const { return held_; }

 private:
  struct Block {
    OwnedMemory memory;
    std::size_t bytes = 0;
  };
  bool fits(std::size_t bytes) const { return limit_ == 0 || (bytes <= limit_ && held_ <= limit_ - bytes); }
  [[noreturn]] void refuse(std::size_t bytes) const;

  std::shared_ptr<Session> session_;
  std::size_t limit_;
  bool reuse_;
  std::size_t held_ = 0;
  std::map<DevicePointer, Block> used_;
  std::multimap<std::size_t, Block> kept_;  // by size
};

}  // namespace ondula::cuda
