// Copies between a window on the device and what lies below, beside the steps.
// SPDX-License-Identifier: MIT
#include "runtime/loop/cuda_tier.hpp"

#include <algorithm>
#include <utility>

namespace ondula::loop {
namespace {

constexpr std::size_t block_bytes = std::size_t{4} << 20;  // worth the while of a copy
constexpr std::int64_t least_block = 2, most_block = 12;

/// Pinned memory that goes with its last owner.
storage::HostAllocator pinned(const std::shared_ptr<cuda::Session>& session) {
  return [session](std::size_t bytes) {
    const cuda::Scope scope(*session);
    auto memory = std::make_shared<cuda::OwnedPinned>(cuda::make_pinned(session, bytes));
    return std::shared_ptr<std::byte>(memory, static_cast<std::byte*>(memory->get()));
  };
}

}  // namespace

std::int64_t cuda_tier_block(std::size_t slot_bytes) {
  const auto fitting = static_cast<std::int64_t>(block_bytes / std::max<std::size_t>(slot_bytes, 1));
  return std::clamp(fitting, least_block, most_block);
}

/// A block's slots, one more that it begins from, and another block's that are on their way.
std::int64_t cuda_window(Tier tier, std::int64_t slots, std::size_t slot_bytes) {
  return tier == Tier::device ? slots : std::min(slots, 2 * cuda_tier_block(slot_bytes) + 1);
}

int cuda_tier_staging(std::size_t slot_bytes) { return static_cast<int>(2 * cuda_tier_block(slot_bytes)); }

CudaTieredHistory::CudaTieredHistory(cuda::Device& device, std::vector<ir::Save> saves, std::int64_t slots,
                                     const Layout& layout, std::size_t element_bytes, const ShotCopies& shots,
                                     const HistoryTier& tier)
    : DeviceHistory(device, saves,
                    cuda_window(tier.tier, slots, slot_bytes(saves.size(), layout, element_bytes, shots)),
                    layout, element_bytes, shots),
      device_(device),
      session_(device.session()),
      slots_(slots),
      block_(cuda_tier_block(this->saves().size() * save_bytes())),
      disk_(tier.tier == Tier::disk),
      places_(static_cast<std::size_t>(places())),
      store_({"history", slots, this->saves().size() * save_bytes(), tier.tier, tier.scratch, 0,
              pinned(device.session()), tier.files}) {
  const std::size_t bytes = store_.options().bytes;
  const cuda::Scope scope(*session_);
  copies_ = cuda::make_stream(session_);
  for (cuda::OwnedEvent& event : stepped_) event = cuda::make_event(session_);
  for (Place& place : places_) place.moved = cuda::make_event(session_);
  staging_.resize(disk_ ? static_cast<std::size_t>(cuda_tier_staging(bytes)) : 0);
  for (Staging& staging : staging_) {
    staging.memory = cuda::make_pinned(session_, storage::blob_room(Tier::disk, bytes));
    staging.copied = cuda::make_event(session_);
  }
  // The stream of copies is not ordered after what fresh memory went through.
  device_.synchronize();
}

CudaTieredHistory::~CudaTieredHistory() {
  session_->dispose(session_->functions().stream_synchronize, copies_.get());
  // Steps that wait for a copy have it behind them before its event goes.
  session_->dispose(session_->functions().stream_synchronize, device_.stream());
}

/// Until nothing is under way; what was is forgotten.
void CudaTieredHistory::stop() {
  const cuda::Scope scope(*session_);
  session_->call(session_->functions().stream_synchronize, copies_.get());
  for (Place& place : places_) place = {nobody, std::move(place.moved), false};
}

void CudaTieredHistory::reset() {
  stop();
  store_.restart();
  for (Staging& staging : staging_) {
    staging.state = Staging::State::free;
    staging.slot = nobody;
  }
  DeviceHistory::reset();
}

void CudaTieredHistory::rebase(std::int64_t slot) {
  stop();
  store_.forget();
  for (Staging& staging : staging_) {
    staging.state = Staging::State::free;
    staging.slot = nobody;
  }
  DeviceHistory::rebase(slot);
  place_of(0).holder = 0;
}

void CudaTieredHistory::steps_wait_for(Place& place) {
  if (!place.moving) return;
  session_->call(session_->functions().stream_wait, device_.stream(), place.moved.get(), 0U);
  place.moving = false;
}

void CudaTieredHistory::record_steps() {
  last_ = 1 - last_;
  session_->call(session_->functions().event_record, stepped_[last_].get(), device_.stream());
}

void CudaTieredHistory::copies_wait_for(std::size_t which) {
  session_->call(session_->functions().stream_wait, copies_.get(), stepped_[which].get(), 0U);
}

void CudaTieredHistory::claim(std::int64_t slot) {
  const cuda::Scope scope(*session_);
  steps_wait_for(place_of(slot));
  place_of(slot).holder = slot;
}

void CudaTieredHistory::complete(std::int64_t slot) {
  const cuda::Scope scope(*session_);
  place_of(slot).holder = slot;
  record_steps();
  copies_wait_for(last_);
  copy_down(slot);
}

void CudaTieredHistory::begin(const Kept& kept, std::int64_t first, std::int64_t count) {
  if (kept.way != Kept::Way::backward) {
    for (std::int64_t n = first; n < first + count; ++n) {
      steps_wait_for(place_of(kept.after(n)));
      place_of(kept.after(n)).holder = kept.after(n);
    }
    return;
  }
  const std::int64_t low = kept.before(first + count - 1);
  bool late = false;
  for (std::int64_t slot = kept.after(first); slot >= low; --slot) {
    if (place_of(slot).holder != slot) {
      if (!std::exchange(late, true)) record_steps();
      read_below(slot);
      copy_up(slot, last_);
    }
    steps_wait_for(place_of(slot));
  }
}

void CudaTieredHistory::end(const Kept& kept, std::int64_t first, std::int64_t count) {
  if (kept.way == Kept::Way::pass) return;
  record_steps();
  if (kept.way == Kept::Way::keep) {
    write_arrived();
    copies_wait_for(last_);
    for (std::int64_t n = first; n < first + count; ++n) copy_down(kept.after(n));
    return;
  }
  write_arrived();
  // The places of the next block's slots are those of the block before this one.
  const std::int64_t low = kept.before(first + count - 1);
  const std::int64_t next = std::max<std::int64_t>(0, low - block_);
  for (std::int64_t slot = low - 1; slot >= next; --slot) {
    if (place_of(slot).holder == slot) continue;
    read_below(slot);
    copy_up(slot, 1 - last_);
  }
  for (std::int64_t slot = next - 1; disk_ && slot >= std::max<std::int64_t>(0, next - block_); --slot) {
    if (place_of(slot).holder != slot) read_below(slot);
  }
}

std::size_t CudaTieredHistory::staging_of(std::int64_t slot) const {
  const auto found =
      std::find_if(staging_.begin(), staging_.end(), [&](const Staging& s) { return s.slot == slot; });
  return static_cast<std::size_t>(found - staging_.begin());
}

/// As soon as nothing is on its way to or from it any more.
void CudaTieredHistory::release(Staging& staging) {
  if (staging.state == Staging::State::down) write_arrived();
  if (staging.state == Staging::State::writing || staging.state == Staging::State::reading)
    store_.wait(staging.slot);
  if (staging.state == Staging::State::up)
    session_->call(session_->functions().event_synchronize, staging.copied.get());
  staging.state = Staging::State::free;
  staging.slot = nobody;
}

/// The one taken longest ago, but for what is read ahead.
std::size_t CudaTieredHistory::free_staging() {
  for (std::size_t tried = 0; tried < staging_.size(); ++tried) {
    const std::size_t which = (oldest_ + tried) % staging_.size();
    if (staging_[which].state == Staging::State::reading) continue;
    release(staging_[which]);
    oldest_ = (which + 1) % staging_.size();
    return which;
  }
  throw InternalError("a history's staging is all read ahead");
}

void CudaTieredHistory::copy_down(std::int64_t slot) {
  const cuda::Functions& f = session_->functions();
  std::byte* to = store_.memory(slot);
  Staging* staging = nullptr;
  if (disk_) {
    if (const std::size_t old = staging_of(slot); old < staging_.size()) release(staging_[old]);
    staging = &staging_[free_staging()];
    to = staging->data();
  }
  for (std::size_t s = 0; s < saves().size(); ++s)
    session_->call(f.copy_to_host, static_cast<void*>(to + s * save_bytes()), cuda::address(buffer(s, slot)),
                   save_bytes(), copies_.get());
  Place& place = place_of(slot);
  session_->call(f.event_record, place.moved.get(), copies_.get());
  place.moving = true;
  if (staging == nullptr) return;
  session_->call(f.event_record, staging->copied.get(), copies_.get());
  staging->state = Staging::State::down;
  staging->slot = slot;
}

/// What has come down goes on to the disk; waits for the copies.
void CudaTieredHistory::write_arrived() {
  for (Staging& staging : staging_) {
    if (staging.state != Staging::State::down) continue;
    session_->call(session_->functions().event_synchronize, staging.copied.get());
    staging.state = Staging::State::writing;
    store_.write(staging.slot, staging.data());
  }
}

/// From the disk into staging, if it is not on its way or still there.
void CudaTieredHistory::read_below(std::int64_t slot) {
  if (!disk_) return;
  if (const std::size_t held = staging_of(slot); held < staging_.size()) {
    Staging& staging = staging_[held];
    if (staging.state == Staging::State::down) write_arrived();
    if (staging.state == Staging::State::up)
      session_->call(session_->functions().event_synchronize, staging.copied.get());
    staging.state = Staging::State::reading;  // after its writing: the store keeps their order
    return;
  }
  Staging& staging = staging_[free_staging()];
  store_.read(slot, staging.data());
  staging.state = Staging::State::reading;
  staging.slot = slot;
}

/// Into its place, once block `after` of steps is done with that.
void CudaTieredHistory::copy_up(std::int64_t slot, std::size_t after) {
  const cuda::Functions& f = session_->functions();
  const std::byte* from = store_.memory(slot);
  Staging* staging = nullptr;
  if (disk_) {
    staging = &staging_.at(staging_of(slot));
    store_.wait(slot);
    from = staging->data();
  }
  copies_wait_for(after);
  for (std::size_t s = 0; s < saves().size(); ++s)
    session_->call(f.copy_to_device, cuda::address(buffer(s, slot)),
                   static_cast<const void*>(from + s * save_bytes()), save_bytes(), copies_.get());
  Place& place = place_of(slot);
  session_->call(f.event_record, place.moved.get(), copies_.get());
  place.moving = true;
  place.holder = slot;
  if (staging == nullptr) return;
  session_->call(f.event_record, staging->copied.get(), copies_.get());
  staging->state = Staging::State::up;
}

/// Everything that was to go down is with the store.
void CudaTieredHistory::flush() {
  write_arrived();
  session_->call(session_->functions().stream_synchronize, copies_.get());
}

void CudaTieredHistory::add_squares(const ir::Domain& domain, std::int64_t slot,
                                    const std::vector<ir::Box>& lives, std::vector<double>& nodes,
                                    std::int64_t shot) {
  {
    const cuda::Scope scope(*session_);
    flush();
  }
  std::vector<std::byte> copy;
  const std::byte* data = store_.memory(slot);
  if (disk_) {
    copy.resize(store_.options().bytes);
    store_.get(slot, copy);
    data = copy.data();
  }
  for (std::size_t s = 0; s < saves().size(); ++s)
    add_squares_of(data + s * save_bytes(), domain, lives.at(s), nodes, shot);
}

std::unique_ptr<DeviceHistory> make_cuda_history(cuda::Device& device, const std::vector<ir::Save>& saves,
                                                 std::int64_t slots, const Layout& layout,
                                                 std::size_t element_bytes, const ShotCopies& shots,
                                                 const HistoryTier& tier) {
  const std::size_t bytes = slot_bytes(saves.size(), layout, element_bytes, shots);
  if (cuda_window(tier.tier, slots, bytes) == slots)
    return std::make_unique<DeviceHistory>(device, saves, slots, layout, element_bytes, shots);
  return std::make_unique<CudaTieredHistory>(device, saves, slots, layout, element_bytes, shots, tier);
}

}  // namespace ondula::loop
