// POSIX file operations of the kernel cache.
// SPDX-License-Identifier: MIT
#include "runtime/jit/cache_files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <random>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

namespace ondula::jit {
namespace {

namespace fs = std::filesystem;

constexpr const char* temporary_prefix = ".writing-";

[[noreturn]] void fail(int error, const char* operation, const fs::path& path) {
  throw std::system_error(error, std::generic_category(), fmt::format("{} {}", operation, path.string()));
}

/// Repeats `call` (negative result: errno is set) while network file systems say "later". Its last result,
/// errno kept.
template <class Call>
int with_retries(const char* operation, const Fault& fault, Call call) {
  constexpr int attempts = 5;
  int result = -1;
  for (int attempt = 0; attempt < attempts; ++attempt) {
    if (attempt > 0) std::this_thread::sleep_for(std::chrono::milliseconds(1 << attempt));
    const int injected = fault ? fault(operation) : 0;
    result = injected != 0 ? -1 : call();
    if (injected != 0) errno = injected;
    if (result >= 0 || (errno != ESTALE && errno != EBUSY && errno != EINTR)) break;
  }
  return result;
}

/// An open file. close() reports what the last writes of a network file system failed with.
class File {
 public:
  explicit File(int descriptor) : descriptor_(descriptor) {}
  ~File() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  int get() const { return descriptor_; }
  bool close() { return ::close(std::exchange(descriptor_, -1)) == 0; }

 private:
  int descriptor_;
};

void write_all(const File& file, std::span<const std::byte> bytes, const fs::path& path, const Fault& fault) {
  while (!bytes.empty()) {
    const int injected = fault ? fault("write") : 0;
    const ssize_t written = injected != 0 ? -1 : ::write(file.get(), bytes.data(), bytes.size());
    if (written < 0) {
      const int error = injected != 0 ? injected : errno;
      if (error == EINTR) continue;
      fail(error, "write", path);
    }
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

void make_private_folder(const fs::path& folder) {
  if (::mkdir(folder.c_str(), 0700) == 0 || errno == EEXIST) return;
  if (errno != ENOENT || !folder.has_parent_path() || folder.parent_path() == folder)
    fail(errno, "mkdir", folder);
  make_private_folder(folder.parent_path());
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) fail(errno, "mkdir", folder);
}

fs::path temporary_beside(const fs::path& path) {
  std::random_device random;
  return path.parent_path() /
         fmt::format("{}{}-{:08x}{:08x}", temporary_prefix, ::getpid(), random(), random());
}

}  // namespace

std::optional<std::vector<std::byte>> read_whole_file(const fs::path& path, const Fault& fault) {
  File file(
      with_retries("open", fault, [&] { return ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK); }));
  if (file.get() < 0 && errno == ENOENT) return std::nullopt;
  if (file.get() < 0) fail(errno, "open", path);
  struct stat status = {};
  if (::fstat(file.get(), &status) != 0) fail(errno, "fstat", path);
  if (!S_ISREG(status.st_mode)) fail(EINVAL, "read (not a regular file)", path);
  std::vector<std::byte> bytes(static_cast<std::size_t>(status.st_size));
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t count = ::read(file.get(), bytes.data() + done, bytes.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail(errno, "read", path);
    if (count == 0) break;
    done += static_cast<std::size_t>(count);
  }
  bytes.resize(done);
  return bytes;
}

void publish_file(const fs::path& path, std::span<const std::byte> bytes, const Fault& fault) {
  make_private_folder(path.parent_path());
  const fs::path temporary = temporary_beside(path);
  File file(with_retries("open", fault, [&] {
    return ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  }));
  if (file.get() < 0) fail(errno, "open", temporary);
  try {
    write_all(file, bytes, temporary, fault);
    if (!file.close()) fail(errno, "close", temporary);
    if (with_retries("rename", fault, [&] { return ::rename(temporary.c_str(), path.c_str()); }) != 0)
      fail(errno, "rename", path);
  } catch (...) {
    ::unlink(temporary.c_str());
    throw;
  }
}

void mark_used(const fs::path& path) { ::utimensat(AT_FDCWD, path.c_str(), nullptr, 0); }

std::vector<StoredFile> scan_files(const fs::path& directory) {
  std::vector<StoredFile> files;
  std::error_code ignored;
  for (const auto& folder : fs::directory_iterator(directory, ignored)) {
    if (!folder.is_directory(ignored)) continue;
    for (const auto& file : fs::directory_iterator(folder.path(), ignored)) {
      std::error_code error;
      StoredFile stored;
      stored.path = file.path();
      stored.bytes = file.file_size(error);
      if (!error) stored.last_used = file.last_write_time(error);
      stored.temporary = file.path().filename().string().starts_with(temporary_prefix);
      if (!error) files.push_back(std::move(stored));
    }
  }
  std::sort(files.begin(), files.end(), [](const auto& a, const auto& b) { return a.path < b.path; });
  return files;
}

}  // namespace ondula::jit
