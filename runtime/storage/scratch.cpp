// Private directories, and files without names in them.
// SPDX-License-Identifier: MIT
#include "runtime/storage/scratch.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>

#include "compiler/error.hpp"
#include "runtime/environment.hpp"
#include "runtime/storage/leftovers.hpp"

namespace ondula::storage {
namespace {

/// While this lives a file that outgrows the process's limit is an error like any other (EFBIG) and no signal
/// that ends the process.
class NoFileSizeSignal {
 public:
  NoFileSizeSignal() {
    sigemptyset(&signal_);
    sigaddset(&signal_, SIGXFSZ);
    sigset_t pending;
    sigpending(&pending);
    was_pending_ = sigismember(&pending, SIGXFSZ) == 1;
    pthread_sigmask(SIG_BLOCK, &signal_, &before_);
  }
  ~NoFileSizeSignal() {
    const int code = errno;
    const timespec now{};
    if (!was_pending_) sigtimedwait(&signal_, nullptr, &now);
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    errno = code;
  }
  NoFileSizeSignal(const NoFileSizeSignal&) = delete;
  NoFileSizeSignal& operator=(const NoFileSizeSignal&) = delete;

 private:
  sigset_t signal_{}, before_{};
  bool was_pending_ = false;
};

bool is_folders_fault(int code) {
  return code == ENOENT || code == ENOTDIR || code == EACCES || code == EPERM || code == EROFS ||
         code == ENAMETOOLONG || code == ELOOP;
}

[[noreturn]] void refuse_folder(const std::string& folder, const std::string& why) {
  throw UserError(fmt::format(
      "scratch folder {}: {}; name one that exists and may be written to (memory scratch, or TMPDIR)", folder,
      why));
}

}  // namespace

std::string scratch_folder(const std::string& given) {
  const std::string folder = given.empty() ? read_environment().temporary : given;
  struct stat facts{};
  if (::stat(folder.c_str(), &facts) != 0) refuse_folder(folder, std::strerror(errno));
  if (!S_ISDIR(facts.st_mode)) refuse_folder(folder, "it is no folder");
  if (::faccessat(AT_FDCWD, folder.c_str(), W_OK | X_OK, AT_EACCESS) != 0)
    refuse_folder(folder, std::strerror(errno));
  return folder;
}

ScratchFile::ScratchFile(const std::string& folder, const std::string& name, std::int64_t bytes,
                         std::shared_ptr<FileOperations> files)
    : files_(files ? std::move(files) : std::make_shared<FileOperations>()) {
  const NoFileSizeSignal quiet;
  clear_leftovers(folder);
  try {
    make_directory(folder);
    make_file(name, bytes);
  } catch (...) {
    remove_names();
    if (file_ >= 0) files_->close(file_);
    if (held_ >= 0) ::close(held_);
    throw;
  }
  remove_names();
}

ScratchFile::~ScratchFile() {
  if (file_ >= 0) files_->close(file_);
  remove_names();
  if (held_ >= 0) ::close(held_);
}

void ScratchFile::make_directory(const std::string& folder) {
  // Another process that clears leftovers may take the directory before it is locked; names of others' are
  // passed over.
  for (int number = 0; number < 1000; ++number) {
    directory_ = folder + "/" + private_name(number);
    path_ = directory_;
    if (files_->make_directory(directory_.c_str()) != 0) {
      if (errno == EEXIST) continue;
      if (is_folders_fault(errno)) refuse_folder(folder, std::strerror(errno));
      fail("making the directory", errno);
    }
    directory_there_ = true;
    held_ = ::open(directory_.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    struct stat facts{};
    // Without a lock (some network file systems have none) the process's number and start have to do.
    if (held_ >= 0 && (::flock(held_, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) &&
        ::fstat(held_, &facts) == 0 && facts.st_nlink > 0)
      return;
    if (held_ >= 0) ::close(held_);
    held_ = -1;
  }
  fail("making a private directory", EEXIST);
}

void ScratchFile::make_file(const std::string& name, std::int64_t bytes) {
  path_ = directory_ + "/" + name;
  name_ = name;
  constexpr int flags = O_RDWR | O_CREAT | O_CLOEXEC;
  file_ = files_->open(held_, name.c_str(), flags | O_EXCL | O_DIRECT, 0600);
  direct_ = file_ >= 0;
  // Where the system's cache cannot be passed the refusal may come after the name has been made.
  if (file_ < 0 && errno == EINVAL) file_ = files_->open(held_, name.c_str(), flags, 0600);
  if (file_ < 0) fail("opening", errno);
  named_ = true;
  if (bytes == 0 || files_->reserve(file_, bytes) == 0) return;
  const int code = errno;
  struct statvfs room{};
  double free_bytes = 0;
  if (::fstatvfs(file_, &room) == 0)
    free_bytes = static_cast<double>(room.f_bavail) * static_cast<double>(room.f_frsize);
  throw RuntimeError(fmt::format("{}: no room for it: {} bytes wanted, {:.0f} free ({})", path_, bytes,
                                 free_bytes, std::strerror(code)));
}

void ScratchFile::remove_names() noexcept {
  if (named_ && ::unlinkat(held_, name_.c_str(), 0) == 0) named_ = false;
  if (directory_there_ && ::rmdir(directory_.c_str()) == 0) directory_there_ = false;
}

void ScratchFile::fail(const std::string& what, int code) const {
  throw RuntimeError(fmt::format("{}: {} failed: {}", path_, what, std::strerror(code)));
}

/// Through the system's cache from now on, as parts of pages have to be; false where it was so already.
bool ScratchFile::leave_direct() {
  if (!direct_.exchange(false)) return false;
  const int flags = ::fcntl(file_, F_GETFL);
  return flags >= 0 && ::fcntl(file_, F_SETFL, flags & ~O_DIRECT) == 0;
}

void ScratchFile::prepare(std::int64_t offset, std::span<const std::byte> bytes) {
  constexpr std::uintptr_t page = 4096;
  const auto where = reinterpret_cast<std::uintptr_t>(bytes.data());
  if (direct_ && (where | static_cast<std::uintptr_t>(offset) | bytes.size()) % page != 0) leave_direct();
}

void ScratchFile::write(std::int64_t offset, std::span<const std::byte> bytes) {
  const NoFileSizeSignal quiet;
  prepare(offset, bytes);
  std::size_t done = 0;
  while (done < bytes.size()) {
    const std::int64_t got = files_->write(file_, bytes.data() + done, bytes.size() - done,
                                           offset + static_cast<std::int64_t>(done));
    if (got < 0 && (errno == EINTR || (errno == EINVAL && leave_direct()))) continue;
    if (got <= 0) {
      const std::string why = got < 0 ? std::strerror(errno) : "nothing more is taken";
      throw RuntimeError(fmt::format("{}: writing at offset {}: {} bytes wanted, {} written: {}", path_,
                                     offset, bytes.size(), done, why));
    }
    done += static_cast<std::size_t>(got);
  }
}

void ScratchFile::read(std::int64_t offset, std::span<std::byte> bytes) {
  prepare(offset, bytes);
  std::size_t done = 0;
  while (done < bytes.size()) {
    const std::int64_t got = files_->read(file_, bytes.data() + done, bytes.size() - done,
                                          offset + static_cast<std::int64_t>(done));
    if (got < 0 && (errno == EINTR || (errno == EINVAL && leave_direct()))) continue;
    if (got <= 0) {
      const std::string why = got < 0 ? std::strerror(errno) : "the file ends there";
      throw RuntimeError(fmt::format("{}: reading at offset {}: {} bytes wanted, {} got: {}", path_, offset,
                                     bytes.size(), done, why));
    }
    done += static_cast<std::size_t>(got);
  }
}

void ScratchFile::close() {
  if (file_ < 0) return;
  const int file = std::exchange(file_, -1);
  if (files_->close(file) != 0) fail("closing", errno);
}

}  // namespace ondula::storage
