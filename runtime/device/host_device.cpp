// The host device: aligned memory and tiles over oneTBB.
// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <immintrin.h>
#include <sys/mman.h>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif
#include <tbb/blocked_range.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <thread>

#include "compiler/error.hpp"
#include "runtime/device/device.hpp"
#include "runtime/floating_point.hpp"

namespace ondula::device {
namespace {

template <class Real>
void scatter(void* data, std::span<const Weighted> to, double amplitude) {
  auto* values = static_cast<Real*>(data);
  for (const Weighted& w : to)
    values[w.element] += static_cast<Real>(w.weight) * static_cast<Real>(amplitude);
}

template <class Real>
double collect(const void* data, std::span<const Weighted> from) {
  const auto* values = static_cast<const Real*>(data);
  double sum = 0;
  for (const Weighted& w : from) sum += w.weight * static_cast<double>(values[w.element]);
  return sum;
}

/// Past the caches, whose lines what is copied would not be read from again soon; whole lines, on lines.
void stream_copy(const char* from, char* to, std::int64_t bytes) {
#if defined(__SSE2__)
  if (reinterpret_cast<std::uintptr_t>(from) % 16 != 0 || reinterpret_cast<std::uintptr_t>(to) % 16 != 0) {
    std::memcpy(to, from, static_cast<std::size_t>(bytes));
    return;
  }
  for (std::int64_t i = 0; i < bytes; i += 16) {
    _mm_stream_si128(reinterpret_cast<__m128i*>(to + i),
                     _mm_load_si128(reinterpret_cast<const __m128i*>(from + i)));
  }
  _mm_sfence();
#else
  std::memcpy(to, from, static_cast<std::size_t>(bytes));
#endif
}

class HostDevice final : public Device {
 public:
  HostDevice(int threads, bool poison, std::size_t limit_bytes)
      : poison_(poison),
        limit_bytes_(limit_bytes),
        limit_(workers_for(wanted(threads))),
        arena_(std::min(wanted(threads), allowed())) {}

  std::string name() const override { return fmt::format("host, {} threads", arena_.max_concurrency()); }

  int threads() const override { return arena_.max_concurrency(); }

  Buffer allocate(std::size_t bytes) override {
    if (limit_bytes_ > 0 && (bytes > limit_bytes_ || bytes_now() > limit_bytes_ - bytes)) {
      throw NoRoom(fmt::format("{} bytes more of device memory ({} held) would pass its limit of {} bytes",
                               bytes, bytes_now(), limit_bytes_));
    }
    // Huge pages where they can be: a step walks tens of streams, each a page walk.
    const std::size_t whole = rounded(bytes);
    void* data = mmap(nullptr, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (data == MAP_FAILED) {
      throw NoRoom(fmt::format("the host has no memory for {} bytes more ({} held): {}", bytes, bytes_now(),
                               std::strerror(errno)));
    }
    if (whole >= huge_page) madvise(data, whole, MADV_HUGEPAGE);
    if (poison_) std::memset(data, 0xff, whole);  // all bits set is a NaN in both working types
    account(bytes);
    return {this, data, bytes};
  }

  void fill_zero(Buffer& buffer) override {
    parallel(static_cast<std::int64_t>(buffer.bytes()), [&](std::int64_t begin, std::int64_t end) {
      std::memset(static_cast<char*>(buffer.data()) + begin, 0, static_cast<std::size_t>(end - begin));
    });
  }

  void upload(Buffer& to, std::size_t offset, const void* from, std::size_t bytes) override {
    require(to, offset, bytes);
    std::memcpy(static_cast<char*>(to.data()) + offset, from, bytes);
  }

  void download(const Buffer& from, std::size_t offset, void* to, std::size_t bytes) const override {
    require(from, offset, bytes);
    std::memcpy(to, static_cast<const char*>(from.data()) + offset, bytes);
  }

  void copy(const Buffer& from, Buffer& to) override {
    require(to, 0, from.bytes());
    constexpr std::int64_t line = 64;
    const auto lines = static_cast<std::int64_t>(from.bytes()) / line;
    parallel(lines, [&](std::int64_t begin, std::int64_t end) {
      stream_copy(static_cast<const char*>(from.data()) + begin * line,
                  static_cast<char*>(to.data()) + begin * line, (end - begin) * line);
    });
    const auto rest = static_cast<std::size_t>(lines * line);
    std::memcpy(static_cast<char*>(to.data()) + rest, static_cast<const char*>(from.data()) + rest,
                from.bytes() - rest);
  }

  void launch(const Launch& launch) override {
    using Function = void (*)(void* const*, const long long*, const void*, const long long*);
    const auto function = reinterpret_cast<Function>(launch.function);
    const auto* integers = reinterpret_cast<const long long*>(launch.integers.data());
    const auto run = [&](const Tile& tile) {
      const FlushDenormals flush;
      function(launch.arrays.data(), integers, launch.scalars.data(),
               reinterpret_cast<const long long*>(tile.data()));
    };
    if (launch.tiles.size() == 1 || arena_.max_concurrency() == 1) {
      for (const Tile& tile : launch.tiles) run(tile);
      return;
    }
    arena_.execute([&] {
      tbb::parallel_for(
          tbb::blocked_range<std::size_t>(0, launch.tiles.size(), 1),
          [&](const tbb::blocked_range<std::size_t>& range) {
            for (std::size_t i = range.begin(); i < range.end(); ++i) run(launch.tiles[i]);
          },
          tbb::simple_partitioner());
    });
  }

  void scatter_add(Buffer& buffer, DType dtype, std::span<const Weighted> to, double amplitude) override {
    if (dtype == DType::float32)
      scatter<float>(buffer.data(), to, amplitude);
    else
      scatter<double>(buffer.data(), to, amplitude);
  }

  double gather(const Buffer& buffer, DType dtype, std::span<const Weighted> from) const override {
    return dtype == DType::float32 ? collect<float>(buffer.data(), from)
                                   : collect<double>(buffer.data(), from);
  }

  void parallel(std::int64_t count, const std::function<void(std::int64_t, std::int64_t)>& body) override {
    arena_.execute([&] {
      tbb::parallel_for(tbb::blocked_range<std::int64_t>(0, count),
                        [&](const tbb::blocked_range<std::int64_t>& range) {
                          const FlushDenormals flush;
                          body(range.begin(), range.end());
                        });
    });
  }

 private:
  static constexpr std::size_t page = 4096;
  static constexpr std::size_t huge_page = std::size_t{2} << 20;

  /// 0: one per core.
  static int wanted(int threads) {
    return threads > 0 ? threads : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  }

  static constexpr auto parallelism = tbb::global_control::max_allowed_parallelism;

  static int allowed() { return static_cast<int>(tbb::global_control::active_value(parallelism)); }

  /// More threads than cores need oneTBB's own limit raised, or it prints a warning and leaves them out. Of
  /// several such limits the lowest counts, so another device may keep this one from its wish.
  static std::unique_ptr<tbb::global_control> workers_for(int threads) {
    if (threads <= allowed()) return nullptr;
    return std::make_unique<tbb::global_control>(parallelism, static_cast<std::size_t>(threads));
  }

  static std::size_t rounded(std::size_t bytes) { return std::max(page, (bytes + page - 1) / page * page); }

  static void require(const Buffer& buffer, std::size_t offset, std::size_t bytes) {
    if (offset > buffer.bytes() || bytes > buffer.bytes() - offset) {
      throw InternalError(
          fmt::format("a copy of {} bytes at {} in a buffer of {}", bytes, offset, buffer.bytes()));
    }
  }

  void release(void* data, std::size_t bytes) noexcept override {
    munmap(data, rounded(bytes));
    unaccount(bytes);
  }

  bool poison_;
  std::size_t limit_bytes_;
  std::unique_ptr<tbb::global_control> limit_;  ///< lives longer than the arena
  tbb::task_arena arena_;
};

}  // namespace

std::unique_ptr<Device> make_host_device(int threads, bool poison, std::size_t limit_bytes) {
  return std::make_unique<HostDevice>(threads, poison, limit_bytes);
}

}  // namespace ondula::device
