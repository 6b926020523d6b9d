// Files that a run writes and reads back, and of which nothing stays.
// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "runtime/storage/file_operations.hpp"

namespace ondula::storage {

/// The folder for scratch files: `given`, else what TMPDIR names, else /tmp. Throws UserError naming it where
/// it is missing, no folder, or closed to us.
std::string scratch_folder(const std::string& given);

/// Removes from `folder` the private directories of processes of this machine and user that died between
/// making and removing one; what a living process holds stays. Returns how many went. Never throws.
int clear_leftovers(const std::string& folder);

/// A file of a fixed size in a private directory. File and directory lose their names as soon as the file is
/// open, so that nothing is left of them when the process ends, however it ends; messages go on naming the
/// path they had. Where a file system keeps names of open files, they go with the object, or with the next
/// scratch file in that folder.
class ScratchFile {
 public:
  /// A file called `name` of so many bytes below `folder`, whose room is set aside at once. `files` null: the
  /// system's. Throws UserError where the folder is missing, no folder or closed to us, RuntimeError where
  /// the room is not there (naming the bytes wanted and free) or the system refuses.
  ScratchFile(const std::string& folder, const std::string& name, std::int64_t bytes,
              std::shared_ptr<FileOperations> files = nullptr);
  ~ScratchFile();
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;

  /// All of `bytes`, in as many calls as it takes. Where memory, offset and size are whole pages they go past
  /// the system's cache, if the file system lets them. Throws RuntimeError naming file, offset, and how many
  /// bytes were wanted and done.
  void write(std::int64_t offset, std::span<const std::byte> bytes);
  void read(std::int64_t offset, std::span<std::byte> bytes);
  /// Throws RuntimeError where the system has an error to report. The destructor closes without a word: all
  /// that was of use has been read.
  void close();
  /// Where the file is, or was while it had a name.
  const std::string& path() const { return path_; }

 private:
  void make_directory(const std::string& folder);
  void make_file(const std::string& name, std::int64_t bytes);
  void remove_names() noexcept;
  void prepare(std::int64_t offset, std::span<const std::byte> bytes);
  bool leave_direct();
  [[noreturn]] void fail(const std::string& what, int code) const;

  std::shared_ptr<FileOperations> files_;
  std::string directory_, name_, path_;
  int held_ = -1;  ///< the directory, locked
  int file_ = -1;
  std::atomic<bool> direct_ = false;  ///< calls go past the system's cache
  bool named_ = false, directory_there_ = false;
};

}  // namespace ondula::storage
