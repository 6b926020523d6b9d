// A history of which the host device holds a few slots, and a disk all of them.
// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "runtime/loop/history.hpp"
#include "runtime/storage/blob_store.hpp"

namespace ondula::loop {

/// Slots that the host device holds of a history of so many: two that a step is at, and three that are on
/// their way to or from a disk. All of them in Tier::host, which is the device's own memory.
std::int64_t host_window(Tier tier, std::int64_t slots);

/// For kernels on the host: steps run on the window's own memory, which the store reads from and writes to.
/// What is complete goes below at once; on the way backward slots come up ahead of the steps.
class TieredHistory final : public DeviceHistory {
 public:
  TieredHistory(device::Device& device, const std::vector<ir::Save>& saves, std::int64_t slots,
                const Layout& layout, std::size_t element_bytes, const HistoryTier& tier);
  std::int64_t slots() const override { return slots_; }
  storage::BlobBytes below() const override { return storage::blob_bytes(store_.options()); }
  void rebase(std::int64_t slot) override;
  void reset() override;
  void open(Kept::Way way, std::int64_t before, std::int64_t slot) override;
  void claim(std::int64_t slot) override;
  void complete(std::int64_t slot) override;
  void add_squares(const ir::Domain& domain, std::int64_t slot, const std::vector<ir::Box>& lives,
                   std::vector<double>& nodes, std::int64_t shot) override;

 private:
  static constexpr std::int64_t nobody = -1;
  std::byte* memory(std::int64_t slot) { return static_cast<std::byte*>(buffer(0, slot).data()); }
  std::int64_t& holder(std::int64_t slot) { return holders_[place(slot)]; }
  /// What `slot` keeps stands in its buffers.
  void require(std::int64_t slot);
  void fetch_ahead(std::int64_t slot);

  std::int64_t slots_;
  std::vector<std::int64_t>
      holders_;               ///< by place: the slot whose bytes it holds, or will when they are there
  storage::BlobStore store_;  ///< goes first: its thread uses the window
};

/// A history of `tier` for kernels on the host.
std::unique_ptr<DeviceHistory> make_host_history(device::Device& device, const std::vector<ir::Save>& saves,
                                                 std::int64_t slots, const Layout& layout,
                                                 std::size_t element_bytes, const HistoryTier& tier);

}  // namespace ondula::loop
