// The states a gradient's forward run can be taken up from again.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "runtime/loop/engine.hpp"

namespace ondula::storage {

/// Where states lie that are not on the device: blobs of one size, by number.
class StateTier {
 public:
  virtual ~StateTier() = default;
  virtual void put(std::int64_t slot, std::span<const std::byte> state) = 0;
  /// What was put there last.
  virtual void get(std::int64_t slot, std::span<std::byte> state) = 0;
};

/// In the host's memory.
std::unique_ptr<StateTier> make_state_tier(std::int64_t count);

/// Room for states of one engine, by slot.
class StateStore {
 public:
  /// On the engine's device, allocated at once. Throws device::NoRoom.
  StateStore(loop::Engine& engine, std::int64_t count);
  /// On `tier`.
  StateStore(loop::Engine& engine, std::int64_t count, std::unique_ptr<StateTier> tier);

  std::int64_t count() const { return count_; }
  /// The engine's present becomes the state in `slot`.
  void keep(std::int64_t slot);
  /// The state in `slot` becomes the engine's present.
  void restore(std::int64_t slot);

 private:
  loop::Engine& engine_;
  std::int64_t count_;
  std::vector<std::unique_ptr<loop::HeldState>> held_;
  std::unique_ptr<StateTier> tier_;
  std::vector<std::byte> staging_;
};

}  // namespace ondula::storage
