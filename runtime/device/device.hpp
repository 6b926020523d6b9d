// One interface over the things that run kernels: memory, launches, and the small gathers and scatters of a
// time loop. SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "compiler/error.hpp"
#include "runtime/types.hpp"

namespace ondula::device {

class Device;

/// Memory ended: the device's, or what its limit leaves.
class NoRoom : public RuntimeError {
 public:
  using RuntimeError::RuntimeError;
};

/// Device memory, returned to its device's account at death. Move only.
class Buffer {
 public:
  Buffer() = default;
  Buffer(Device* owner, void* data, std::size_t bytes) : owner_(owner), data_(data), bytes_(bytes) {}
  Buffer(Buffer&& other) noexcept { swap(other); }
  Buffer& operator=(Buffer&& other) noexcept {
    swap(other);
    return *this;
  }
  ~Buffer();
  /// The same memory, of which `buffer` stays the owner and which it must outlive.
  static Buffer view(Buffer& buffer) { return {nullptr, buffer.data_, buffer.bytes_}; }
  /// Some of it.
  static Buffer part(Buffer& buffer, std::size_t offset, std::size_t bytes) {
    return {nullptr, static_cast<std::byte*>(buffer.data_) + offset, bytes};
  }
  void* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }

 private:
  void swap(Buffer& other) noexcept {
    std::swap(owner_, other.owner_);
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
  }
  Device* owner_ = nullptr;
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

/// One element of a buffer and its weight.
struct Weighted {
  std::int64_t element = 0;
  double weight = 0;
};

/// lo <= i < hi along each outer axis of a sweep, in the order the kernel's `tile` argument wants.
using Tile = std::vector<std::int64_t>;

/// A kernel with its arguments bound (emit/manifest.hpp lays them out).
struct Launch {
  void* function = nullptr;
  std::vector<void*> arrays;
  std::vector<std::int64_t> integers;
  std::vector<std::byte> scalars;  ///< of the working type, packed
  std::vector<Tile> tiles;         ///< disjoint; may run in any order and at once
};

/// Allocations are counted: `bytes_peak` is what `estimate` must predict.
class Device {
 public:
  Device() = default;
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  virtual ~Device() = default;

  virtual std::string name() const = 0;
  /// Whether Buffer::data() is an address of the host's.
  virtual bool host_memory() const { return true; }
  /// False after an error that leaves in doubt what is on it: then it is to be made anew.
  virtual bool sound() const { return true; }
  /// Threads that run kernels, at most: fewer than asked for only beside another device with fewer.
  virtual int threads() const = 0;
  /// Memory whose content means nothing yet; throws NoRoom naming the bytes asked for and already held.
  virtual Buffer allocate(std::size_t bytes) = 0;
  virtual void fill_zero(Buffer& buffer) = 0;
  virtual void upload(Buffer& to, std::size_t offset_bytes, const void* from, std::size_t bytes) = 0;
  virtual void download(const Buffer& from, std::size_t offset_bytes, void* to, std::size_t bytes) const = 0;
  /// All of one buffer into another of the same size.
  virtual void copy(const Buffer& from, Buffer& to) = 0;
  virtual void launch(const Launch& launch) = 0;
  /// buffer[element] += weight * amplitude, in the order given, in the working type.
  virtual void scatter_add(Buffer& buffer, DType dtype, std::span<const Weighted> to, double amplitude) = 0;
  /// sum of weight * buffer[element], in double.
  virtual double gather(const Buffer& buffer, DType dtype, std::span<const Weighted> from) const = 0;
  /// Runs body(begin, end) over [0, count) on the device's threads, in pieces.
  virtual void parallel(std::int64_t count, const std::function<void(std::int64_t, std::int64_t)>& body) = 0;

  std::size_t bytes_now() const { return now_; }
  std::size_t bytes_peak() const { return peak_; }

 protected:
  friend class Buffer;
  virtual void release(void* data, std::size_t bytes) noexcept = 0;
  void account(std::size_t bytes) {
    now_ += bytes;
    if (now_ > peak_) peak_ = now_;
  }
  void unaccount(std::size_t bytes) noexcept { now_ -= bytes; }

 private:
  std::size_t now_ = 0;
  std::size_t peak_ = 0;
};

inline Buffer::~Buffer() {
  if (owner_ != nullptr) owner_->release(data_, bytes_);
}

/// The host: `threads` of oneTBB (0: one per core), kernels over tiles, denormals flushed inside kernels
/// only. With `poison`, fresh memory is NaN: for tests that nothing relies on what it did not write. An
/// allocation that would take the sum over `limit_bytes` (0: no limit) throws RuntimeError.
std::unique_ptr<Device> make_host_device(int threads, bool poison = false, std::size_t limit_bytes = 0);

}  // namespace ondula::device
