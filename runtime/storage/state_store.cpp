// Keeping and restoring states.
// SPDX-License-Identifier: MIT
#include "runtime/storage/state_store.hpp"

#include <span>

namespace ondula::storage {

BlobOptions state_blobs(const loop::HistoryTier& tier, std::int64_t count, std::size_t bytes) {
  BlobOptions options;
  options.name = "checkpoints";
  options.count = count;
  options.bytes = bytes;
  options.tier = tier.tier;
  options.scratch = tier.scratch;
  options.staging = 2;  // one that is written while steps run, and one that is expected
  options.files = tier.files;
  return options;
}

StateStore::StateStore(loop::Engine& engine, std::int64_t count, const loop::HistoryTier& tier)
    : engine_(engine), count_(count) {
  if (count == 0) return;
  if (tier.tier == Tier::device) {
    for (std::int64_t k = 0; k < count; ++k) held_.push_back(engine.make_state());
    return;
  }
  below_ = std::make_unique<BlobStore>(state_blobs(tier, count, engine.state_bytes()));
  if (tier.tier == Tier::disk) passing_.resize(engine.state_bytes());
}

BlobBytes state_blob_bytes(const BlobOptions& options) {
  if (options.count == 0 || options.tier == Tier::device) return {};
  BlobBytes bytes = blob_bytes(options);
  if (options.tier == Tier::disk) bytes.host += options.bytes;
  return bytes;
}

BlobBytes StateStore::below() const { return below_ ? state_blob_bytes(below_->options()) : BlobBytes{}; }

void StateStore::begin() {
  if (below_) below_->restart();
}

void StateStore::keep(std::int64_t slot) {
  if (!below_) {
    engine_.hold(*held_.at(static_cast<std::size_t>(slot)));
  } else if (std::byte* const memory = below_->memory(slot)) {
    engine_.download({memory, below_->options().bytes});
  } else {
    engine_.download(passing_);
    below_->put(slot, passing_);
  }
}

void StateStore::expect(std::int64_t slot) {
  if (below_ && !passing_.empty()) below_->prefetch(slot);
}

void StateStore::restore(std::int64_t slot) {
  if (!below_) {
    engine_.resume(*held_.at(static_cast<std::size_t>(slot)));
  } else if (const std::byte* const memory = below_->memory(slot)) {
    engine_.upload({memory, below_->options().bytes});
  } else {
    below_->get(slot, passing_);
    engine_.upload(passing_);
  }
}

}  // namespace ondula::storage
