// A history of which a CUDA device holds a few slots, and a store in the host's memory or on disk it all.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <vector>

#include "runtime/device/cuda/device.hpp"
#include "runtime/loop/history.hpp"
#include "runtime/storage/blob_store.hpp"

namespace ondula::loop {

/// Steps of which the slots go up and down together: two of large slots; more of small ones, of which a step
/// takes no longer than its launches do.
std::int64_t cuda_tier_block(std::size_t slot_bytes);
/// Slots that the device holds of a history of so many.
std::int64_t cuda_window(Tier tier, std::int64_t slots, std::size_t slot_bytes);
/// Slots' worth of pinned memory on the way between a device and a disk.
int cuda_tier_staging(std::size_t slot_bytes);

/// Steps come in blocks. While one is computed, the slots that the block before it left go down, or those
/// that the next one wants come up, on a stream of copies that is ordered against the steps by events; the
/// host waits for neither, but for the disk where that is slower than the steps. Blobs of Tier::host lie in
/// pinned memory themselves; those of Tier::disk pass through pinned staging of this object's own.
class CudaTieredHistory final : public DeviceHistory {
 public:
  CudaTieredHistory(cuda::Device& device, std::vector<ir::Save> saves, std::int64_t slots,
                    const Layout& layout, std::size_t element_bytes, const ShotCopies& shots,
                    const HistoryTier& tier);
  ~CudaTieredHistory() override;

  std::int64_t slots() const override { return slots_; }
  storage::BlobBytes below() const override {
    storage::BlobBytes bytes = storage::blob_bytes(store_.options());
    bytes.host += staging_.size() * store_.options().bytes;
    return bytes;
  }
  void rebase(std::int64_t slot) override;
  void reset() override;
  void claim(std::int64_t slot) override;
  void complete(std::int64_t slot) override;
  void add_squares(const ir::Domain& domain, std::int64_t slot, const std::vector<ir::Box>& lives,
                   std::vector<double>& nodes, std::int64_t shot) override;

  /// Steps of a block at most.
  std::int64_t block() const { return block_; }
  /// Around the enqueueing of steps first to first + count - 1 of `kept`, its run's own numbers. The context
  /// must be current.
  void begin(const Kept& kept, std::int64_t first, std::int64_t count);
  void end(const Kept& kept, std::int64_t first, std::int64_t count);

 private:
  static constexpr std::int64_t nobody = -1;
  struct Place {
    std::int64_t holder = nobody;  ///< the slot whose bytes are there when `moved` has come
    cuda::OwnedEvent moved;        ///< the last copy to or from it is done
    bool moving = false;           ///< steps have not waited for it yet
  };
  struct Staging {
    enum class State { free, down, writing, reading, up };
    cuda::OwnedPinned memory;
    State state = State::free;
    std::int64_t slot = nobody;
    cuda::OwnedEvent copied;
    std::byte* data() const { return static_cast<std::byte*>(memory.get()); }
  };

  Place& place_of(std::int64_t slot) { return places_[place(slot)]; }
  std::size_t staging_of(std::int64_t slot) const;
  std::size_t free_staging();
  void release(Staging& staging);
  void steps_wait_for(Place& place);
  void copies_wait_for(std::size_t which);
  void record_steps();
  void copy_down(std::int64_t slot);
  void copy_up(std::int64_t slot, std::size_t after);
  void write_arrived();
  void read_below(std::int64_t slot);
  void flush();
  void stop();

  cuda::Device& device_;
  std::shared_ptr<cuda::Session> session_;
  std::int64_t slots_, block_;
  bool disk_;
  std::vector<Place> places_;
  std::vector<Staging> staging_;
  std::size_t oldest_ = 0;  ///< staging is taken in turn
  cuda::OwnedStream copies_;
  std::array<cuda::OwnedEvent, 2> stepped_;  ///< after the last two blocks of steps
  std::size_t last_ = 0;                     ///< which of them is the later one
  storage::BlobStore store_;                 ///< goes first: its thread uses the staging
};

/// A history of `tier` for kernels on a CUDA device.
std::unique_ptr<DeviceHistory> make_cuda_history(cuda::Device& device, const std::vector<ir::Save>& saves,
                                                 std::int64_t slots, const Layout& layout,
                                                 std::size_t element_bytes, const ShotCopies& shots,
                                                 const HistoryTier& tier);

}  // namespace ondula::loop
