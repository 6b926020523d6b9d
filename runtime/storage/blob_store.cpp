// The queue of requests, its threads, and the staging buffers.
// SPDX-License-Identifier: MIT
#include "runtime/storage/blob_store.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <utility>

#include "compiler/error.hpp"

namespace ondula::storage {

BlobStore::BlobStore(BlobOptions options)
    : options_(std::move(options)),
      medium_(make_medium(options_)),
      open_(static_cast<std::size_t>(options_.count)),
      active_(static_cast<std::size_t>(options_.count)) {
  if (options_.tier == Tier::host) options_.staging = 0;
  for (int k = 0; k < options_.staging; ++k)
    staging_.push_back({allocate_host(options_.allocate, room(), options_.name), {}, -1, 0});
  // Signals are for the program's own threads.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    const int threads = options_.tier == Tier::disk ? 2 : 1;
    for (int k = 0; k < threads; ++k) workers_.emplace_back([this] { work(); });
  } catch (...) {
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    end_threads();
    throw;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

BlobStore::~BlobStore() { end_threads(); }

void BlobStore::end_threads() {
  {
    const Lock lock(mutex_);
    jobs_.clear();
    hints_.clear();
    ending_ = true;
  }
  changed_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

/// The first request whose slot no other thread is at.
std::deque<BlobStore::Job>::iterator BlobStore::startable() {
  return std::find_if(jobs_.begin(), jobs_.end(),
                      [&](const Job& job) { return !active_[static_cast<std::size_t>(job.slot)]; });
}

void BlobStore::work() noexcept {
  Lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return ending_ || startable() != jobs_.end(); });
    if (ending_) return;
    const auto first = startable();
    const Job job = *first;
    jobs_.erase(first);
    active_[static_cast<std::size_t>(job.slot)] = true;
    lock.unlock();
    std::exception_ptr wrong;
    try {
      run(job);
    } catch (...) {
      wrong = std::current_exception();
    }
    lock.lock();
    active_[static_cast<std::size_t>(job.slot)] = false;
    if (wrong && !error_) error_ = wrong;
    done(job);
    if (error_) {
      hints_.clear();
      while (!jobs_.empty()) {
        const Job dropped = jobs_.front();
        jobs_.pop_front();
        done(dropped);
      }
    } else {
      begin_hints(lock);
    }
    changed_.notify_all();
  }
}

void BlobStore::run(const Job& job) {
  if (job.from != nullptr)
    medium_->write(job.slot, job.from);
  else
    medium_->read(job.slot, job.to);
}

void BlobStore::done(const Job& job) {
  --open_[static_cast<std::size_t>(job.slot)];
  --busy_;
  if (job.staging < 0) return;
  Staging& staging = staging_[static_cast<std::size_t>(job.staging)];
  staging.state = job.from != nullptr ? Staging::State::free : Staging::State::ready;
  if (error_) staging = {std::move(staging.data), Staging::State::free, -1, 0};
}

void BlobStore::check(const Lock&) {
  if (!error_) return;
  told_ = true;
  std::rethrow_exception(error_);
}

void BlobStore::check_slot(std::int64_t slot, std::size_t bytes) const {
  if (slot >= 0 && slot < options_.count && bytes == options_.bytes) return;
  throw InternalError(fmt::format("{}: {} bytes for blob {}; there are {} of {} bytes", options_.name, bytes,
                                  slot, options_.count, options_.bytes));
}

void BlobStore::enqueue(const Lock&, const Job& job) {
  ++open_[static_cast<std::size_t>(job.slot)];
  ++busy_;
  // Somebody waits for what is read, nobody for what is written.
  auto place = jobs_.end();
  while (job.to != nullptr && place != jobs_.begin()) {
    const Job& before = *std::prev(place);
    if (before.to != nullptr || before.slot == job.slot) break;
    --place;
  }
  jobs_.insert(place, job);
  changed_.notify_all();
}

void BlobStore::wait_for(Lock& lock, std::int64_t slot) {
  changed_.wait(lock, [&] { return open_[static_cast<std::size_t>(slot)] == 0; });
  check(lock);
}

BlobStore::Staging* BlobStore::holding(std::int64_t slot) {
  const auto found =
      std::find_if(staging_.begin(), staging_.end(), [&](const Staging& s) { return s.slot == slot; });
  return found == staging_.end() ? nullptr : &*found;
}

BlobStore::Staging* BlobStore::least_recent(Staging::State state) {
  Staging* least = nullptr;
  for (Staging& staging : staging_) {
    if (staging.state == state && (least == nullptr || staging.age < least->age)) least = &staging;
  }
  return least;
}

void BlobStore::begin_hints(const Lock& lock) {
  while (!hints_.empty()) {
    Staging* const staging = least_recent(Staging::State::free);
    if (staging == nullptr) return;
    const std::int64_t slot = hints_.front();
    hints_.pop_front();
    *staging = {std::move(staging->data), Staging::State::reading, slot, ++clock_};
    enqueue(lock, {slot, nullptr, staging->data.get(), static_cast<int>(staging - staging_.data())});
  }
}

void BlobStore::put(std::int64_t slot, std::span<const std::byte> blob) {
  check_slot(slot, blob.size());
  Lock lock(mutex_);
  check(lock);
  if (staging_.empty()) {
    lock.unlock();
    put_unstaged(slot, blob);
    return;
  }
  std::erase(hints_, slot);
  wait_for(lock, slot);
  if (Staging* const old = holding(slot)) *old = {std::move(old->data), Staging::State::free, -1, 0};
  Staging* staging = nullptr;
  changed_.wait(lock, [&] {
    // What was fetched ahead can be read again.
    staging = least_recent(Staging::State::free);
    if (staging == nullptr) staging = least_recent(Staging::State::ready);
    return staging != nullptr || error_;
  });
  check(lock);
  *staging = {std::move(staging->data), Staging::State::writing, slot, ++clock_};
  lock.unlock();
  std::memcpy(staging->data.get(), blob.data(), blob.size());
  lock.lock();
  check(lock);
  enqueue(lock, {slot, staging->data.get(), nullptr, static_cast<int>(staging - staging_.data())});
}

void BlobStore::put_unstaged(std::int64_t slot, std::span<const std::byte> blob) {
  std::shared_ptr<std::byte> copy;
  if (options_.tier == Tier::disk) {
    copy = allocate_host({}, room(), options_.name);
    std::memcpy(copy.get(), blob.data(), blob.size());
  }
  write(slot, copy ? copy.get() : blob.data());
  wait(slot);
}

void BlobStore::prefetch(std::int64_t slot) {
  check_slot(slot, options_.bytes);
  const Lock lock(mutex_);
  check(lock);
  if (staging_.empty() || std::find(hints_.begin(), hints_.end(), slot) != hints_.end()) return;
  if (Staging* const held = holding(slot)) {
    // What is still there from its writing stays until it is asked for.
    if (held->state == Staging::State::free) held->state = Staging::State::ready;
    return;
  }
  hints_.push_back(slot);
  begin_hints(lock);
}

void BlobStore::get(std::int64_t slot, std::span<std::byte> blob) {
  check_slot(slot, blob.size());
  Lock lock(mutex_);
  check(lock);
  std::erase(hints_, slot);
  wait_for(lock, slot);
  if (Staging* const held = holding(slot)) {
    held->state = Staging::State::reading;  // so that it stays
    lock.unlock();
    std::memcpy(blob.data(), held->data.get(), blob.size());
    lock.lock();
    held->state = Staging::State::free;
    begin_hints(lock);
    check(lock);
    return;
  }
  std::shared_ptr<std::byte> copy;
  if (options_.tier == Tier::disk) copy = allocate_host({}, room(), options_.name);
  enqueue(lock, {slot, nullptr, copy ? copy.get() : blob.data(), -1});
  wait_for(lock, slot);
  if (copy) std::memcpy(blob.data(), copy.get(), blob.size());
}

void BlobStore::write(std::int64_t slot, const std::byte* from) {
  check_slot(slot, options_.bytes);
  Lock lock(mutex_);
  check(lock);
  std::erase(hints_, slot);
  if (holding(slot) != nullptr) {
    wait_for(lock, slot);
    // Meanwhile another's bytes may have taken its place.
    if (Staging* const old = holding(slot)) *old = {std::move(old->data), Staging::State::free, -1, 0};
  }
  enqueue(lock, {slot, from, nullptr, -1});
}

void BlobStore::read(std::int64_t slot, std::byte* to) {
  check_slot(slot, options_.bytes);
  const Lock lock(mutex_);
  check(lock);
  enqueue(lock, {slot, nullptr, to, -1});
}

void BlobStore::wait(std::int64_t slot) {
  check_slot(slot, options_.bytes);
  Lock lock(mutex_);
  wait_for(lock, slot);
}

void BlobStore::finish() {
  Lock lock(mutex_);
  changed_.wait(lock, [&] { return busy_ == 0; });
  check(lock);
}

bool BlobStore::idle(std::int64_t slot) {
  check_slot(slot, options_.bytes);
  const Lock lock(mutex_);
  check(lock);
  return open_[static_cast<std::size_t>(slot)] == 0;
}

void BlobStore::drop(Lock& lock) {
  hints_.clear();
  while (!jobs_.empty()) {
    const Job dropped = jobs_.front();
    jobs_.pop_front();
    done(dropped);
  }
  changed_.wait(lock, [&] { return busy_ == 0; });
  for (Staging& staging : staging_) staging = {std::move(staging.data), Staging::State::free, -1, 0};
  medium_->forget();
}

void BlobStore::forget() {
  Lock lock(mutex_);
  drop(lock);
  check(lock);
}

void BlobStore::restart() {
  Lock lock(mutex_);
  drop(lock);
  const std::exception_ptr error = std::exchange(error_, nullptr);
  if (error && !std::exchange(told_, false)) std::rethrow_exception(error);
}

}  // namespace ondula::storage
