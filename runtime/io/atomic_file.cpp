// Writing a file so that an interruption leaves the whole file or none.
// SPDX-License-Identifier: MIT
#include "runtime/io/atomic_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "compiler/error.hpp"

namespace ondula::io {

namespace {

[[noreturn]] void refuse_existing(const std::string& path) {
  throw UserError(fmt::format("{} exists already; use --force to replace it, or name another output", path));
}

bool exists(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::exists(std::filesystem::symlink_status(path, ignored));
}

/// Creates a temporary beside `path`; the number keeps two writers of one process apart.
std::pair<int, std::string> open_temporary(const std::string& path) {
  for (int number = 0; number < 1000; ++number) {
    std::string name = fmt::format("{}.{}.{}.part", path, ::getpid(), number);
    const int descriptor = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor >= 0) return {descriptor, std::move(name)};
    if (errno != EEXIST) break;
  }
  const int code = errno;
  const std::string message = fmt::format("cannot write {}: {}", path, std::strerror(code));
  if (code == ENOENT || code == ENOTDIR || code == EACCES || code == EROFS || code == ENAMETOOLONG)
    throw UserError(message + "; the output's directory must exist and be writable");
  throw RuntimeError(message);
}

}  // namespace

AtomicFile::AtomicFile(std::string path, Existing existing) : path_(std::move(path)), existing_(existing) {
  if (existing_ == Existing::refuse && exists(path_)) refuse_existing(path_);
  std::error_code ignored;
  if (std::filesystem::is_directory(path_, ignored))
    throw UserError(fmt::format("cannot write {}: it is a directory", path_));
  auto [descriptor, name] = open_temporary(path_);
  temporary_ = std::move(name);
  file_ = ::fdopen(descriptor, "wb");
  if (file_ == nullptr) {
    ::close(descriptor);
    ::unlink(temporary_.c_str());
    fail("fdopen");
  }
}

AtomicFile::AtomicFile(AtomicFile&& other) noexcept
    : path_(std::move(other.path_)),
      temporary_(std::exchange(other.temporary_, {})),
      existing_(other.existing_),
      file_(std::exchange(other.file_, nullptr)) {}

AtomicFile::~AtomicFile() { discard(); }

void AtomicFile::discard() noexcept {
  if (file_ != nullptr) std::fclose(std::exchange(file_, nullptr));
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
  temporary_.clear();
}

void AtomicFile::fail(const char* call) const {
  throw RuntimeError(fmt::format("writing {} failed: {}: {}", path_, call, std::strerror(errno)));
}

void AtomicFile::write(std::span<const std::byte> bytes) {
  if (file_ == nullptr) throw InternalError(fmt::format("{} is written to after it was closed", path_));
  if (!bytes.empty() && std::fwrite(bytes.data(), 1, bytes.size(), file_) != bytes.size()) fail("fwrite");
}

void AtomicFile::commit() {
  if (file_ == nullptr) throw InternalError(fmt::format("{} is committed twice", path_));
  if (std::fflush(file_) != 0) fail("fflush");
  if (::fsync(::fileno(file_)) != 0 && errno != EINVAL && errno != EROFS) fail("fsync");
  if (std::fclose(std::exchange(file_, nullptr)) != 0) fail("fclose");
  if (existing_ == Existing::refuse) {
    // A link, unlike a rename, fails where the name has appeared since the constructor looked.
    if (::link(temporary_.c_str(), path_.c_str()) == 0) {
      discard();
      return;
    }
    if (errno == EEXIST) refuse_existing(path_);
    if (exists(path_))
      refuse_existing(path_);  // a file system without hard links: look once more, then rename
  }
  if (std::rename(temporary_.c_str(), path_.c_str()) != 0) fail("rename");
  temporary_.clear();
}

void write_text(const std::string& path, const std::string& text, Existing existing) {
  AtomicFile file(path, existing);
  file.write(std::as_bytes(std::span(text.data(), text.size())));
  file.commit();
}

}  // namespace ondula::io
