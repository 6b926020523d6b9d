// The system's calls on scratch files.
// SPDX-License-Identifier: MIT
#include "runtime/storage/file_operations.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>

namespace ondula::storage {

int FileOperations::make_directory(const char* path) { return ::mkdir(path, 0700); }

int FileOperations::open(int directory, const char* name, int flags, unsigned mode) {
  return ::openat(directory, name, flags, mode);
}

int FileOperations::reserve(int file, std::int64_t bytes) {
  int status = 0;
  do status = ::fallocate(file, 0, 0, bytes);
  while (status != 0 && errno == EINTR);
  if (status == 0 || (errno != EOPNOTSUPP && errno != ENOSYS)) return status;
  // A file system that cannot set room aside (posix_fallocate would write to each block): at least none that
  // it lacks already.
  struct statvfs room{};
  if (::fstatvfs(file, &room) == 0 &&
      static_cast<double>(room.f_bavail) * static_cast<double>(room.f_frsize) < static_cast<double>(bytes)) {
    errno = ENOSPC;
    return -1;
  }
  return ::ftruncate(file, bytes);
}

std::int64_t FileOperations::write(int file, const std::byte* from, std::size_t bytes, std::int64_t offset) {
  return ::pwrite(file, from, bytes, offset);
}

std::int64_t FileOperations::read(int file, std::byte* to, std::size_t bytes, std::int64_t offset) {
  return ::pread(file, to, bytes, offset);
}

int FileOperations::close(int file) { return ::close(file); }

}  // namespace ondula::storage
