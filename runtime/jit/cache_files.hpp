// File operations of the kernel cache: whole reads, atomic publication, scans.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <vector>

#include "runtime/jit/cache_options.hpp"

namespace ondula::jit {

/// The whole of a regular file; nothing where there is none. ESTALE and EBUSY are tried again a few times,
/// for some 30 ms in all. Throws std::system_error.
std::optional<std::vector<std::byte>> read_whole_file(const std::filesystem::path& path, const Fault& fault);

/// Writes `bytes` to a private temporary beside `path` and renames it there: a reader sees the old file, the
/// whole new one or none. Creates missing folders, private to the user. On failure the temporary is gone.
/// Throws std::system_error.
void publish_file(const std::filesystem::path& path, std::span<const std::byte> bytes, const Fault& fault);

/// Marks a file as used now; without effect where that is not allowed.
void mark_used(const std::filesystem::path& path);

/// One file of the cache.
struct StoredFile {
  std::filesystem::path path;
  std::uint64_t bytes = 0;
  std::filesystem::file_time_type last_used;
  bool temporary = false;  ///< of publish_file: a writer is at it, or died
};

/// The files one folder below `directory`, sorted by path; none where it cannot be read. Never throws over a
/// file that another process removes meanwhile.
std::vector<StoredFile> scan_files(const std::filesystem::path& directory);

}  // namespace ondula::jit
