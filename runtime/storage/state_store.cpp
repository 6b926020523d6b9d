// Keeping and restoring states.
// SPDX-License-Identifier: MIT
#include "runtime/storage/state_store.hpp"

#include <algorithm>
#include <utility>

namespace ondula::storage {
namespace {

class HostStates final : public StateTier {
 public:
  explicit HostStates(std::int64_t count) : states_(static_cast<std::size_t>(count)) {}
  void put(std::int64_t slot, std::span<const std::byte> state) override {
    states_.at(static_cast<std::size_t>(slot)).assign(state.begin(), state.end());
  }
  void get(std::int64_t slot, std::span<std::byte> state) override {
    const std::vector<std::byte>& kept = states_.at(static_cast<std::size_t>(slot));
    std::copy(kept.begin(), kept.end(), state.begin());
  }

 private:
  std::vector<std::vector<std::byte>> states_;
};

}  // namespace

std::unique_ptr<StateTier> make_state_tier(std::int64_t count) { return std::make_unique<HostStates>(count); }

StateStore::StateStore(loop::Engine& engine, std::int64_t count) : engine_(engine), count_(count) {
  for (std::int64_t k = 0; k < count; ++k) held_.push_back(engine.make_state());
}

StateStore::StateStore(loop::Engine& engine, std::int64_t count, std::unique_ptr<StateTier> tier)
    : engine_(engine), count_(count), tier_(std::move(tier)) {
  if (count > 0) staging_.resize(engine.state_bytes());
}

void StateStore::keep(std::int64_t slot) {
  if (!tier_) {
    engine_.hold(*held_.at(static_cast<std::size_t>(slot)));
    return;
  }
  engine_.download(staging_);
  tier_->put(slot, staging_);
}

void StateStore::restore(std::int64_t slot) {
  if (!tier_) {
    engine_.resume(*held_.at(static_cast<std::size_t>(slot)));
    return;
  }
  tier_->get(slot, staging_);
  engine_.upload(staging_);
}

}  // namespace ondula::storage
