// Writing a file so that an interruption leaves the whole file or none.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdio>
#include <span>
#include <string>

namespace ondula::io {

/// What to do where the output already exists: refuse (the default of the program), or replace (`--force`).
enum class Existing { refuse, replace };

/// A file that appears under its name only when complete: bytes go to a private temporary in the same
/// directory, and `commit` renames it. Destroyed before that, the temporary is removed and the name is
/// untouched.
class AtomicFile {
 public:
  /// Opens the temporary. Throws UserError where `path` exists and may not be replaced, or its directory is
  /// missing or closed to us; RuntimeError for any other failure.
  AtomicFile(std::string path, Existing existing);
  ~AtomicFile();
  AtomicFile(AtomicFile&& other) noexcept;
  AtomicFile& operator=(AtomicFile&&) = delete;
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  /// Appends bytes. Throws RuntimeError (disk full, I/O error).
  void write(std::span<const std::byte> bytes);
  /// Flushes, closes (checked) and publishes the file. Throws UserError where the name has appeared meanwhile
  /// and may not be replaced, RuntimeError where the system refuses.
  void commit();
  /// The final name.
  const std::string& path() const noexcept { return path_; }

 private:
  [[noreturn]] void fail(const char* call) const;
  void discard() noexcept;

  std::string path_;
  std::string temporary_;
  Existing existing_;
  std::FILE* file_ = nullptr;
};

/// Writes text as a whole file or none; the same errors as AtomicFile.
void write_text(const std::string& path, const std::string& text, Existing existing);

}  // namespace ondula::io
