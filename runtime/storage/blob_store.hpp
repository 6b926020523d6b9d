// Numbered blobs below the device, written and read by threads of their own.
// SPDX-License-Identifier: MIT
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "runtime/storage/blob_medium.hpp"

namespace ondula::storage {

/// A history's slots, rings or checkpoints. Two ways in and out, which may be mixed: put, prefetch and get
/// copy through staging buffers of the store's own; write and read leave the caller's memory to the store
/// until wait(), blob_room() bytes on a page. One thread calls. What goes wrong in the store's thread
/// comes out of the next call, and of every one after it until restart(): then nothing that was kept is left
/// to read.
class BlobStore {
 public:
  /// Allocates, sets aside, and starts the threads. Throws as make_medium does.
  explicit BlobStore(BlobOptions options);
  ~BlobStore();
  BlobStore(const BlobStore&) = delete;
  BlobStore& operator=(const BlobStore&) = delete;

  /// Keeps a copy of `blob`. Waits while all staging buffers are under way; without any, until it is kept.
  void put(std::int64_t slot, std::span<const std::byte> blob);
  /// A hint that get(slot) will come: read as soon as a staging buffer is free.
  void prefetch(std::int64_t slot);
  /// What was put there; waits for it.
  void get(std::int64_t slot, std::span<std::byte> blob);

  /// Keeps what `from` holds, which stays as it is until wait(slot).
  void write(std::int64_t slot, const std::byte* from);
  /// What was kept is in `to` after wait(slot). Reads are begun in their order, before writes that still
  /// wait, other than those of the same slot.
  void read(std::int64_t slot, std::byte* to);
  /// Until all that was asked of `slot` is done.
  void wait(std::int64_t slot);
  /// Whether it is by now.
  bool idle(std::int64_t slot);
  /// Until everything is done; throws what went wrong.
  void finish();
  /// Drops what is asked and not begun, and forgets all blobs; memory given to write and read is the caller's
  /// again.
  void forget();
  /// The same, errors too: a new run begins. Throws an error that no call has thrown yet.
  void restart();

  const BlobOptions& options() const { return options_; }
  /// Where the blob lies, if that is in the host's memory; then the caller may fill and read it itself.
  std::byte* memory(std::int64_t slot) { return medium_->memory(slot); }

 private:
  struct Job {
    std::int64_t slot = 0;
    const std::byte* from = nullptr;  ///< a write's
    std::byte* to = nullptr;          ///< a read's
    int staging = -1;
  };
  struct Staging {
    enum class State { free, writing, reading, ready };
    std::shared_ptr<std::byte> data;
    State state = State::free;
    std::int64_t slot = -1;  ///< whose bytes it holds or will hold; -1: nobody's
    std::int64_t age = 0;    ///< when it was last used
  };
  using Lock = std::unique_lock<std::mutex>;

  void work() noexcept;
  std::deque<Job>::iterator startable();
  void end_threads();
  void run(const Job& job);
  void done(const Job& job);
  void check(const Lock& lock);
  void check_slot(std::int64_t slot, std::size_t bytes) const;
  void enqueue(const Lock& lock, const Job& job);
  std::size_t room() const { return blob_room(options_.tier, options_.bytes); }
  void put_unstaged(std::int64_t slot, std::span<const std::byte> blob);
  void wait_for(Lock& lock, std::int64_t slot);
  void drop(Lock& lock);
  Staging* holding(std::int64_t slot);
  Staging* least_recent(Staging::State state);
  void begin_hints(const Lock& lock);

  BlobOptions options_;
  std::unique_ptr<BlobMedium> medium_;
  std::vector<Staging> staging_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Job> jobs_;
  std::deque<std::int64_t> hints_;  ///< prefetches that no buffer was free for
  std::vector<int> open_;           ///< requests of each slot that are not done
  std::vector<bool> active_;        ///< slots that a thread is at
  std::int64_t clock_ = 0;
  std::int64_t busy_ = 0;  ///< requests not done
  std::exception_ptr error_;
  bool told_ = false;  ///< it has been thrown
  bool ending_ = false;
  std::vector<std::thread> workers_;
};

}  // namespace ondula::storage
