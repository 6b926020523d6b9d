// The window: which slots it holds, and when its memory is whose.
// SPDX-License-Identifier: MIT
#include "runtime/loop/tiered_history.hpp"

#include <algorithm>

namespace ondula::loop {
namespace {

constexpr std::int64_t window = 5;

}  // namespace

std::int64_t host_window(Tier tier, std::int64_t slots) {
  return tier == Tier::disk ? std::min(slots, window) : slots;
}

TieredHistory::TieredHistory(device::Device& device, const std::vector<ir::Save>& saves, std::int64_t slots,
                             const Layout& layout, std::size_t element_bytes, const HistoryTier& tier)
    : DeviceHistory(device, saves, host_window(tier.tier, slots), layout, element_bytes, {},
                    storage::blob_room(Tier::disk, slot_bytes(saves.size(), layout, element_bytes, {}))),
      slots_(slots),
      holders_(static_cast<std::size_t>(places()), nobody),
      store_({"history", slots, saves.size() * save_bytes(), tier.tier, tier.scratch, 0, {}, tier.files}) {}

void TieredHistory::reset() {
  store_.restart();
  DeviceHistory::reset();
  holders_.assign(holders_.size(), nobody);
}

void TieredHistory::rebase(std::int64_t slot) {
  store_.forget();
  DeviceHistory::rebase(slot);
  holders_.assign(holders_.size(), nobody);
  holder(0) = 0;
}

void TieredHistory::claim(std::int64_t slot) {
  if (holder(slot) != nobody) store_.wait(holder(slot));
  holder(slot) = slot;
}

void TieredHistory::complete(std::int64_t slot) { store_.write(slot, memory(slot)); }

void TieredHistory::open(Kept::Way way, std::int64_t before, std::int64_t slot) {
  if (way != Kept::Way::backward) {
    claim(slot);
    return;
  }
  require(slot);
  require(before);
  fetch_ahead(before);
}

void TieredHistory::require(std::int64_t slot) {
  if (holder(slot) != slot) {
    if (holder(slot) != nobody) store_.wait(holder(slot));
    holder(slot) = nobody;
    store_.read(slot, memory(slot));
    holder(slot) = slot;
  }
  store_.wait(slot);
}

/// The places of the step's two slots are spared.
void TieredHistory::fetch_ahead(std::int64_t slot) {
  for (std::int64_t next = slot - 1; next >= std::max<std::int64_t>(0, slot + 2 - places()); --next) {
    if (holder(next) == next) continue;
    if (holder(next) != nobody && !store_.idle(holder(next))) return;  // it is still on its way down
    holder(next) = next;
    store_.read(next, memory(next));
  }
}

void TieredHistory::add_squares(const ir::Domain& domain, std::int64_t slot,
                                const std::vector<ir::Box>& lives, std::vector<double>& nodes,
                                std::int64_t shot) {
  std::vector<std::byte> copy;
  const std::byte* data = memory(slot);
  if (holder(slot) == slot) {
    store_.wait(slot);
  } else {
    copy.resize(store_.options().bytes);
    store_.get(slot, copy);
    data = copy.data();
  }
  for (std::size_t s = 0; s < saves().size(); ++s)
    add_squares_of(data + s * save_bytes(), domain, lives.at(s), nodes, shot);
}

std::unique_ptr<DeviceHistory> make_host_history(device::Device& device, const std::vector<ir::Save>& saves,
                                                 std::int64_t slots, const Layout& layout,
                                                 std::size_t element_bytes, const HistoryTier& tier) {
  if (host_window(tier.tier, slots) == slots)
    return std::make_unique<DeviceHistory>(device, saves, slots, layout, element_bytes);
  return std::make_unique<TieredHistory>(device, saves, slots, layout, element_bytes, tier);
}

}  // namespace ondula::loop
