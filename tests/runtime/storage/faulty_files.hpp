// File operations that go wrong, or slowly, where a test says so.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <functional>
#include <thread>

#include "runtime/storage/file_operations.hpp"

namespace ondula::test {

/// Calls are counted from 1; 0 stands for never.
class FaultyFiles : public storage::FileOperations {
 public:
  int directory_error = 0, reserve_error = 0, close_error = 0;
  std::int64_t fail_write = 0, short_write = 0, fail_read = 0, short_read = 0, end_read = 0, flip_read = 0;
  std::int64_t lose_write = 0;  ///< says it has written
  int error = EIO;              ///< of failing writes and reads
  bool keep_room = true;        ///< false: none is set aside
  double bytes_per_second = 0;  ///< 0: as fast as the system
  std::function<void()> at_open, at_write;
  std::atomic<std::int64_t> writes{0}, reads{0}, closes{0};
  std::atomic<std::int64_t> hit{
      -1};  ///< offset of the write or read that went wrong; which it is is up to the threads

  int make_directory(const char* path) override {
    return fails(directory_error) ? -1 : FileOperations::make_directory(path);
  }
  int open(int directory, const char* name, int flags, unsigned mode) override {
    if (at_open) at_open();
    return FileOperations::open(directory, name, flags, mode);
  }
  int reserve(int file, std::int64_t bytes) override {
    if (fails(reserve_error)) return -1;
    return keep_room ? FileOperations::reserve(file, bytes) : 0;
  }
  std::int64_t write(int file, const std::byte* from, std::size_t bytes, std::int64_t offset) override {
    const std::int64_t number = ++writes;
    if (at_write) at_write();
    if (number == fail_write || number == lose_write) hit = offset;
    if (number == fail_write) return fails(error) ? -1 : 0;
    if (number == lose_write) return static_cast<std::int64_t>(bytes);
    if (number == short_write) bytes = part_of(bytes);
    pass(bytes);
    return FileOperations::write(file, from, bytes, offset);
  }
  std::int64_t read(int file, std::byte* to, std::size_t bytes, std::int64_t offset) override {
    const std::int64_t number = ++reads;
    if (number == fail_read || number == end_read || number == flip_read) hit = offset;
    if (number == fail_read) return fails(error) ? -1 : 0;
    if (number == end_read) return 0;
    if (number == short_read) bytes = part_of(bytes);
    pass(bytes);
    const std::int64_t got = FileOperations::read(file, to, bytes, offset);
    if (number == flip_read && got > 0) to[got / 2] ^= std::byte{16};
    return got;
  }
  int close(int file) override {
    ++closes;
    const int status = FileOperations::close(file);
    return fails(close_error) ? -1 : status;
  }

 private:
  /// A third, of whole pages if they were some.
  static std::size_t part_of(std::size_t bytes) {
    constexpr std::size_t page = 4096;
    const std::size_t third = std::max<std::size_t>(1, bytes / 3);
    return bytes % page == 0 && bytes > page ? std::max(page, third / page * page) : third;
  }
  static bool fails(int code) {
    if (code != 0) errno = code;
    return code != 0;
  }
  void pass(std::size_t bytes) const {
    if (bytes_per_second > 0)
      std::this_thread::sleep_for(
          std::chrono::duration<double>(static_cast<double>(bytes) / bytes_per_second));
  }
};

}  // namespace ondula::test
