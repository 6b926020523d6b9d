// The disk cache of compiled kernels: one file per key, never a reason to fail.
// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/jit/cache_entry.hpp"
#include "runtime/jit/cache_files.hpp"
#include "runtime/jit/cache_options.hpp"
#include "runtime/jit/tuning_record.hpp"

namespace ondula::jit {

/// One entry, or one of the tuner's records, as `ondula cache list` shows it.
struct CacheListing {
  std::string key;
  std::filesystem::path path;
  std::uint64_t bytes = 0;
  std::filesystem::file_time_type last_used;
  std::optional<CacheEntry> entry;     ///< nothing where the file is damaged or unreadable
  std::optional<TuningRecord> record;  ///< of a record, likewise
  std::string damage;                  ///< why there is neither
};

/// A folder of entries, DIR/ab/abcdef....ondula, and of the tuner's records, DIR/ab/abcdef....tuned. Safe
/// against other threads and processes on the same folder without locks: entries appear by rename and a
/// damaged one is rebuilt. After the first problem with the folder one warning goes to the log, and kernels
/// are compiled in memory.
class Cache {
 public:
  /// Throws UserError only where ONDULA_CACHE_LIMIT is no size. Touches no file yet.
  explicit Cache(const CacheOptions& options, Log log);

  /// The entry under `key` whose stored source is `source`; nothing where there is none. A damaged one is
  /// removed, with a warning. Marks the entry as used.
  std::optional<CacheEntry> load(const std::string& key, const std::string& source);
  /// Publishes an entry, then removes stale half-written files, and the longest unused entries beyond the
  /// limit.
  void store(const CacheEntry& entry);
  /// Removes an entry that turned out to be unusable, with a warning that gives `reason`.
  void discard(const std::string& key, const std::string& reason);
  /// The tuner's record for `subject`; nothing where there is none. One that is damaged, or of another
  /// subject, is removed, with a warning. Marks it as used.
  std::optional<TuningRecord> load_record(const TuningSubject& subject);
  /// Publishes a record, which counts for the limit as entries do. False where it could not be kept: warned
  /// of.
  bool store_record(const TuningRecord& record);
  /// The sound records of a program (TuningSubject::program), in the order of their keys.
  std::vector<TuningRecord> records_of(const std::string& program) const;
  /// Removes a record that turned out to be unusable, with a warning that gives `reason`.
  void discard_record(const TuningSubject& subject, const std::string& reason);
  /// Keeps a source that did not compile, in the cache or else in the temporary folder. The path, or "" if
  /// nowhere.
  /// `extension` is ".cpp" or ".cu".
  std::string save_failed_source(const std::string& key, const std::string& source,
                                 const std::string& extension = ".cpp");

  /// The folder; empty when off or when there is no place for one.
  const std::filesystem::path& directory() const { return directory_; }
  /// The file of a key.
  std::filesystem::path path_of(const std::string& key) const;
  /// The file of a record.
  std::filesystem::path record_path(const TuningSubject& subject) const;
  std::uint64_t limit_bytes() const { return limit_bytes_; }
  /// Every entry and record, read and checked, by key; nothing is changed.
  std::vector<CacheListing> list() const;
  /// Checks every entry and record and removes the damaged ones. Those removed.
  std::vector<CacheListing> verify();
  /// Removes every file of the cache, half-written ones too. How many. A running process loses nothing by it.
  std::size_t clear();

 private:
  void warn(const std::string& message) const;
  void warn_once(const std::string& message);
  std::optional<std::vector<std::byte>> read(const std::filesystem::path& path);
  bool publish(const std::filesystem::path& path, std::span<const std::byte> bytes, const char* what);
  void trim(const std::filesystem::path& newest) const;

  std::filesystem::path directory_;
  std::string no_place_;  ///< why there is no folder although the cache is not off
  std::uint64_t limit_bytes_ = 0;
  std::chrono::seconds stale_after_;
  Fault fault_;
  Log log_;
  std::atomic<bool> warned_ = false;
};

/// Bytes from "500 MB", "2 GiB", "1000000". Throws UserError naming `what` for anything else.
std::uint64_t parse_bytes(const std::string& text, const std::string& what);

}  // namespace ondula::jit
