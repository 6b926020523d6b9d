// The system's calls on scratch files, which tests replace to inject faults.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

namespace ondula::storage {

/// As the system's calls: -1 and errno where one fails. Called by the thread that makes a file, then by those
/// of its store, several at a time.
class FileOperations {
 public:
  virtual ~FileOperations() = default;
  virtual int make_directory(const char* path);
  /// Opens `name` in an open directory.
  virtual int open(int directory, const char* name, int flags, unsigned mode);
  /// Gives a file so many bytes, and room for them.
  virtual int reserve(int file, std::int64_t bytes);
  virtual std::int64_t write(int file, const std::byte* from, std::size_t bytes, std::int64_t offset);
  virtual std::int64_t read(int file, std::byte* to, std::size_t bytes, std::int64_t offset);
  virtual int close(int file);
};

}  // namespace ondula::storage
