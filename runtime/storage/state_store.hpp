// The states that a gradient's forward run can be taken up from again.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/loop/engine.hpp"
#include "runtime/storage/blob_store.hpp"

namespace ondula::storage {

/// `count` states of so many bytes in the host's memory or on disk, as blobs; `tier` says which, and where.
BlobOptions state_blobs(const loop::HistoryTier& tier, std::int64_t count, std::size_t bytes);

/// What those take, one on its way to or from a disk included.
BlobBytes state_blob_bytes(const BlobOptions& options);

/// Room for states of one engine, by slot, allocated or set aside at once. On the device they are copied in
/// the order of the steps, and nothing waits; those below pass through the host's memory.
class StateStore {
 public:
  /// Throws device::NoRoom, or what BlobStore does.
  StateStore(loop::Engine& engine, std::int64_t count, const loop::HistoryTier& tier);

  std::int64_t count() const { return count_; }
  /// What it takes below the device.
  BlobBytes below() const;
  /// A new run begins: no state is kept, and what went wrong is forgotten.
  void begin();
  /// The engine's present becomes the state in `slot`.
  void keep(std::int64_t slot);
  /// A hint that restore(slot) will come.
  void expect(std::int64_t slot);
  /// The state in `slot` becomes the engine's present.
  void restore(std::int64_t slot);

 private:
  loop::Engine& engine_;
  std::int64_t count_;
  std::vector<std::unique_ptr<loop::HeldState>> held_;
  std::vector<std::byte> passing_;    ///< one on its way to or from a disk
  std::unique_ptr<BlobStore> below_;  ///< null: states are held on the device
};

}  // namespace ondula::storage
